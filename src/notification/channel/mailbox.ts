/** Domains that share mailboxes, whose local parts ignore dots. */
const GMAIL = new Set(['gmail.com', 'googlemail.com'])

/**
 * Returns the mailbox of an email address, which recognizes addresses of the same recipient: in lower case, without a
 * `+tag`, and for Gmail without dots and with one domain. Used for counting and suppression; email goes to the address
 * as entered.
 */
export function foldMailbox(address: string): string {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at).toLowerCase(), address.slice(at + 1).toLowerCase()]
  const untagged = local.replace(/(?<=.)\+.*/s, '')
  return GMAIL.has(domain) ? `${untagged.replaceAll('.', '')}@gmail.com` : `${untagged}@${domain}`
}

/** Returns the common prefix of a mailbox's addresses, without dots. It only narrows an SQL search. */
export function mailboxStart(address: string): string {
  return (address.split('@', 1)[0] ?? '').split('+', 1)[0]?.replaceAll('.', '').toLowerCase() ?? ''
}
