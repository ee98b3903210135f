/** A reply of an SMTP server that refuses an email. */
export interface SmtpReply {
  /** The reply code (RFC 5321 §4.2.1); null: the server did not answer, or broke off. */
  readonly status: number | null
  /** The reply as sent, with its code. */
  readonly text: string
  /** The command that it answers, such as `RCPT TO:<ada@reader.example>`; empty: none, as at the login. */
  readonly command: string
}

/**
 * What a refusal is about. `ADDRESS`: the mailbox or its domain does not exist. `MOMENT`: something that may pass, such as
 * a full mailbox. `US`: our server, our sender's address or our message, so that only the operator can mend it.
 */
export type RefusalSubject = 'ADDRESS' | 'MOMENT' | 'US'

/**
 * Returns what a refusal is about. A permanent refusal concerns the address only if its enhanced status code says so
 * (X.1.x, RFC 3463 §3.2), or its text in the words of large providers: many send other codes, or none. All else, above
 * all policies and block lists (X.7.x), would hit every recipient alike, and must not count against them.
 */
export function refusalSubject({ status, text, command }: SmtpReply): RefusalSubject {
  if (status === null || !/^(?:RCPT TO|DATA)/.test(command)) return 'US'
  if (status < 500) return 'MOMENT'
  const code = enhancedCode(text)
  if (code === '2.2' || FULL.test(text)) return 'MOMENT'
  if (code === null || UNSPECIFIC.has(code)) return MISSING.test(text) ? 'ADDRESS' : 'US'
  return code.startsWith('1.') && !OF_SENDER.has(code) ? 'ADDRESS' : 'US'
}

/** Returns the subject and detail of an enhanced status code (RFC 2034 §4), such as `1.1` of `550 5.1.1 …`; null: none. */
function enhancedCode(text: string): string | null {
  return /^5\d\d[ -]5\.(\d{1,3}\.\d{1,3})\b/.exec(text)?.[1] ?? null
}

/** The sender's mailbox or domain is bad, or the address is valid (RFC 3463 §3.2, X.1.5, X.1.7 and X.1.8). */
const OF_SENDER: ReadonlySet<string> = new Set(['1.5', '1.7', '1.8'])

/**
 * Codes that say too little, or that large providers send for mailboxes that do not exist: Microsoft 5.4.1 and 5.5.0,
 * Google 5.2.1, others 5.0.0 and 5.2.0. Their text decides.
 */
const UNSPECIFIC: ReadonlySet<string> = new Set(['0.0', '2.0', '2.1', '4.1', '5.0'])

/** What providers say of a mailbox that does not exist (any more): Postfix, Exim, Google, Microsoft, Yahoo, Apple, GMX, Mail.ru. */
const MISSING =
  /no such (?:user|mailbox|recipient|address|person)|(?:user|recipient|mailbox|address) unknown|unknown (?:user|recipient|mailbox|address)|invalid (?:recipient|mailbox|user)|mailbox unavailable|(?:user|account|mailbox|recipient|address)\b.{0,80}\b(?:does(?:n.t| not) exist|not found|is disabled|is inactive|deactivated)|doesn.t have an? .{1,60} account|recipient address rejected: access denied/i

const FULL = /(?:mailbox|quota|storage|inbox)\b.{0,40}\b(?:full|exceeded|over)|over ?quota|out of storage/i
