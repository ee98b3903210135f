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
