/** What to change first. Colors are at the top of style.css, and other words in words.js and problems.js. */

export const names = {
  page: "client-vanilla",
  bot: "Bot",
  user: "You",
};

const { hostname = "", search = "" } = globalThis.location ?? {}; // there is none while the page is built

/** Whether to show what only the bot's developer can use: commands, addresses and numbers. */
export const forDevelopers = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);

/** Whether to show only the shape and the button, for a frame in another site: the address ends with ?embed. */
export const embedded = new URLSearchParams(search).has("embed");
