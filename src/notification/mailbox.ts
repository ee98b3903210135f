/** Domains of one provider that all lead to the same mailboxes, in which dots do not count. */
const GMAIL = new Set(['gmail.com', 'googlemail.com'])

/**
 * The mailbox that a mail address leads to, to tell whether two addresses are the same reader's: without case, without what
 * stands after a plus, at Gmail without dots and under its one name. For counting and for suppression; mail goes to the
 * address as it was given.
 */
export function foldMailbox(address: string): string {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at).toLowerCase(), address.slice(at + 1).toLowerCase()]
  const untagged = local.replace(/(?<=.)\+.*$/, '')
  return GMAIL.has(domain) ? `${untagged.replaceAll('.', '')}@gmail.com` : `${untagged}@${domain}`
}

/** What all addresses of a mailbox begin with once dots are left out: narrows a search in SQL, and folds nothing by itself. */
export function mailboxStart(address: string): string {
  return (address.split('@', 1)[0] ?? '').split('+', 1)[0]?.replaceAll('.', '').toLowerCase() ?? ''
}
