/**
 * Returns the HTML for embedding the status line of a page in a site.
 * @param title describes it for screen readers.
 */
export function embedSnippet(address: string, title: string): string {
  return String(<iframe src={address} title={title} width="320" height="40" loading="lazy" style="border:0"></iframe>)
}

/**
 * Returns the HTML of a badge that links to its page.
 * @param title describes it for readers who do not see it.
 */
export function badgeSnippet(pageUrl: string, address: string, title: string): string {
  return String(
    <a href={pageUrl}>
      <img src={address} alt={title} />
    </a>,
  )
}
