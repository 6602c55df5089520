"use client";

import dynamic from "next/dynamic";

// Nothing to render on the server: the page needs the browser's microphone.
const App = dynamic(() => import("../App").then((module) => module.App), { ssr: false });

export default function Page() {
  return <App />;
}
