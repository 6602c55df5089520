import type { Metadata } from "next";
import type { ReactNode } from "react";
import { names } from "../page.ts";
import "../style.css";

export const metadata: Metadata = { title: names.page, icons: "data:," }; // signs.ts draws the icon

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
