import { parseAddress } from '../address.ts'
import { isQueryable } from '../dns/message.ts'

/** A host that can be looked for. */
export type Host =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'name'; readonly name: string }
  /** A name that always means the machine itself (RFC 6761 §6.3). */
  | { readonly kind: 'this machine'; readonly name: string }

/**
 * What a host means, read as browsers read it: so `0x7f.1`, `2130706433` and `127.1` are the address 127.0.0.1, and no
 * two readings of one spelling can differ. IPv6 with or without brackets. Null when it is no host: a zone id, a port, a
 * user or a path make it none.
 */
export function readHost(text: string): Host | null {
  const literal = parseAddress(text.replace(/^\[(.*)\]$/, '$1'))
  if (literal !== null) return { kind: 'address', address: literal }
  if (/[/\\?#@:[\]\s]/.test(text) || !URL.canParse(`http://${text}`)) return null
  const { hostname } = new URL(`http://${text}`)
  const address = parseAddress(hostname)
  if (address !== null) return { kind: 'address', address }
  const name = hostname.replace(/\.$/, '')
  if (/(?:^|\.)localhost$/.test(name)) return { kind: 'this machine', name }
  return isQueryable(name) ? { kind: 'name', name } : null
}
