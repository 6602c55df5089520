/** Settings from .env; see .env.example. */

/** Where sessions start: the path or URL of the bot's /start. */
export const startPath = import.meta.env.VITE_START_URL || "/start";
