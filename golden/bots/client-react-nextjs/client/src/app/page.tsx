"use client";

import dynamic from "next/dynamic";

// There is nothing to render before the browser with its microphone is there.
const App = dynamic(() => import("../App").then((module) => module.App), { ssr: false });

export default function Page() {
  return <App />;
}
