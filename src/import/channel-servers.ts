import { parseUrl } from '../core/url.ts'

/**
 * Returns whether a server of Telegram’s Bot API is the public one (core.telegram.org/bots/api), the only one that channels here
 * send to. With another server, the token must not be sent there. @param address empty: the default, which is the public one.
 */
export function isTelegram(address: string): boolean {
  if (address === '') return true
  const url = parseUrl(address)
  return url?.origin === 'https://api.telegram.org' && url.pathname === '/'
}

/** Returns whether a server of PagerDuty’s Events API is the one that channels here send to. @param address empty: the default. */
export function isPagerDuty(address: string): boolean {
  return address === '' || parseUrl(address)?.origin === 'https://events.pagerduty.com'
}
