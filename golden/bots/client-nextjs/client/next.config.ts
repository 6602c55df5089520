import type { NextConfig } from "next";

// Turns off the telemetry of Next.js.
process.env.NEXT_TELEMETRY_DISABLED = "1";

const config: NextConfig = {
  reactStrictMode: true,
  devIndicators: false, // the badge covers part of a narrow page; errors are shown without it
};

export default config;
