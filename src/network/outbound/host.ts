import { invisibleCharacterIn } from '../../core/invisible-character.ts'
import { parseAddress } from '../../core/ip-address.ts'
import { parseUrl } from '../../core/url.ts'
import { isQueryable } from '../dns/message.ts'

/** A host that can be resolved. */
export type Host =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'name'; readonly name: string }
  /** A name that always means this machine (RFC 6761 §6.3). */
  | { readonly kind: 'this machine'; readonly name: string }

/**
 * Parses a host as browsers do, so that all parsers agree: `0x7f.1`, `2130706433` and `127.1` are the address
 * 127.0.0.1. Accepts IPv6 with or without brackets. Returns null for other texts, such as one with a zone id, port,
 * user or path.
 */
export function readHost(text: string): Host | null {
  const literal = parseAddress(text.replace(/^\[(.*)\]$/, '$1'))
  if (literal !== null) return { kind: 'address', address: literal }
  const url = /[/\\?#@:[\]\s]/.test(text) ? null : parseUrl(`http://${text}`)
  if (url === null) return null
  const { hostname } = url
  const address = parseAddress(hostname)
  if (address !== null) return { kind: 'address', address }
  const name = hostname.replace(/\.$/, '')
  if (/(?:^|\.)localhost$/.test(name)) return { kind: 'this machine', name }
  return isQueryable(name) ? { kind: 'name', name } : null
}

/** The largest lengths of a label and of a name (RFC 1035 §2.3.4). */
const MAX_LABEL_LENGTH = 63
const MAX_NAME_LENGTH = 253

/**
 * Returns why an entered host cannot be resolved, as the end of "The host …"; null: it can. Parsers drop some invisible
 * characters, so that the host would be another one than the text seems to say, and others make it invalid.
 */
export function hostProblem(text: string): string | null {
  const host = readHost(text)
  const invisible = invisibleCharacterIn(text, { joiners: host === null })
  if (invisible !== null) return `must not contain the invisible character ${invisible}`
  return host === null ? `must be a host name or an IP address${lengthProblem(text)}` : null
}

function lengthProblem(text: string): string {
  const name = (parseUrl(`http://${text}`)?.hostname ?? text).replace(/\.$/, '')
  if (name.split('.').some((label) => label.length > MAX_LABEL_LENGTH))
    return `; a label has at most ${MAX_LABEL_LENGTH} characters`
  return name.length > MAX_NAME_LENGTH ? `; a name has at most ${MAX_NAME_LENGTH} characters` : ''
}

/** Returns why the host of an entered URL cannot be resolved, like `hostProblem`; null: it can. */
export function urlHostProblem(text: string): string | null {
  const url = parseUrl(text)
  const [, authority = ''] = /^[a-z][a-z\d+.-]*:[/\\]*([^/?#\\]*)/i.exec(text.trim()) ?? []
  const invisible = invisibleCharacterIn(authority, { joiners: url === null })
  if (invisible !== null) return `must not contain the invisible character ${invisible}`
  return url === null ? null : hostProblem(url.hostname)
}
