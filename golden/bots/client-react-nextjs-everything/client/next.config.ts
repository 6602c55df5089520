import type { NextConfig } from "next";

// Next.js reports how it is used, unless it is told not to.
process.env.NEXT_TELEMETRY_DISABLED = "1";

const config: NextConfig = {
  reactStrictMode: true,
};

export default config;
