import type { Metadata, Viewport } from "next";
import type { ReactNode } from "react";
import "../style.css";

export const metadata: Metadata = { title: "client-react-nextjs", icons: "/icon.svg" };

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f5f6f3" },
    { media: "(prefers-color-scheme: dark)", color: "#0f1416" },
  ],
};

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
