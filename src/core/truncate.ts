/** A text of at most `most` UTF-16 units, with an ellipsis where it is cut; no character is cut in two. */
export function truncate(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
