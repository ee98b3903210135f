import { Cookie, CookieJar } from 'tough-cookie'

/** The limits of cookies, as in curl (`MAX_SET_COOKIE_AMOUNT`, `MAX_COOKIE_LINE`, `MAX_COOKIE_HEADER_LEN`). */
const MAX_SET = 50
const MAX_SET_LENGTH = 5000
const MAX_SENT_LENGTH = 8190

/** The cookies that servers set during one request and its redirects. */
export interface Cookies {
  /** Takes the values of the headers Set-Cookie of a response. Those that are not allowed (RFC 6265) are left out. */
  store(url: URL, values: readonly string[]): void
  /**
   * Returns the value of the header Cookie for a URL; null: there are none.
   * @param own the cookies that the caller sends to this URL. A server replaces them by setting the same name.
   */
  headerFor(url: URL, own: readonly string[]): string | null
}

/** Creates an empty store of cookies. */
export function createCookies(): Cookies {
  const jar = new CookieJar(undefined, { allowSpecialUseDomain: true, prefixSecurity: 'silent' })
  return {
    store(url, values) {
      for (const value of values.slice(0, MAX_SET)) {
        if (value.length > MAX_SET_LENGTH) continue
        const cookie = Cookie.parse(value)
        // What a secure cookie protects must not come from a connection that anyone can change (RFC 6265bis §5.7).
        if (cookie === undefined || (cookie.secure && url.protocol !== 'https:')) continue
        jar.setCookieSync(cookie, url.href, { ignoreError: true })
      }
    },
    headerFor(url, own) {
      const set = jar.getCookiesSync(url.href).filter(({ key, value }) => isSendable(key + value))
      if (set.length === 0) return own.length === 0 ? null : own.join('; ')
      const names = new Set(set.map(({ key }) => key))
      const kept = own
        .flatMap((each) => each.split(';'))
        .map((each) => each.trim())
        .filter((each) => each !== '' && !names.has(each.split('=')[0] ?? ''))
      let length = kept.join('; ').length
      const sent = set
        .map((each) => each.cookieString())
        .filter((each) => {
          length += each.length + 2
          return length <= MAX_SENT_LENGTH
        })
      return [...kept, ...sent].join('; ')
    },
  }
}

/** Returns whether a text can be part of a request's header. */
const isSendable = (text: string) => /^[\x20-\x7e\x80-\xff]*$/.test(text)
