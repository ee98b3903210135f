/** Returns the HTML with which a site embeds the status line of a page. @param title describes what it is, for screen readers. */
export function embedSnippet(address: string, title: string): string {
  return String(<iframe src={address} title={title} width="320" height="40" loading="lazy" style="border:0"></iframe>)
}

/** Returns the HTML of a badge that leads to its page. @param title describes what it is, for readers who do not see it. */
export function badgeSnippet(pageUrl: string, address: string, title: string): string {
  return String(
    <a href={pageUrl}>
      <img src={address} alt={title} />
    </a>,
  )
}
