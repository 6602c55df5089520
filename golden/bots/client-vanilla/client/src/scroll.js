/** Pixels from the end that count as scrolled to the end. */
const nearby = 24;

/** Keeps the end of a box in sight, unless the reader has scrolled up, until what it returns is called. */
export function followEnd(box) {
  let following = true;
  const note = () => {
    following = box.scrollTop + box.clientHeight > box.scrollHeight - nearby;
  };
  const follow = () => {
    if (following) box.scrollTop = box.scrollHeight;
  };
  box.addEventListener("scroll", note);
  const changes = new MutationObserver(follow);
  changes.observe(box, { childList: true, characterData: true, subtree: true });
  const size = new ResizeObserver(follow); // a phone was rotated, or its keyboard opened
  size.observe(box);
  return () => {
    box.removeEventListener("scroll", note);
    changes.disconnect();
    size.disconnect();
  };
}
