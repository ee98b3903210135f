/** Truncates a text to `most` UTF-16 units, with an ellipsis, without splitting a character. */
export function truncate(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
