import type { NextConfig } from "next";

// Turns off the telemetry of Next.js.
process.env.NEXT_TELEMETRY_DISABLED = "1";

const config: NextConfig = {
  reactStrictMode: true,
  devIndicators: { position: "top-right" }, // elsewhere it covers buttons on a narrow page
};

export default config;
