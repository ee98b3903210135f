import type { Certificate } from './failure.ts'
import type { Identity } from './outbound.ts'

/** The settings of TLS over one connection. */
export interface TlsSettings {
  /** The name or address for which the certificate must be. */
  readonly host: string
  /** The protocols to offer (ALPN); absent: none. */
  readonly protocols?: readonly string[] | undefined
  /** The certificate and key for servers that request one. */
  readonly identity?: Identity | undefined
}

/** Settings of a TLS thread, its `workerData`. */
export interface TlsThreadSettings {
  /** Trusted certificates in PEM, which replace the default ones. */
  readonly ca: string | undefined
}

/** A message to a TLS thread about the connection `id`. Encrypted bytes come from the server. */
export type TlsRequest = { readonly id: number } & (
  | { readonly kind: 'open'; readonly settings: TlsSettings }
  | { readonly kind: 'encrypted'; readonly bytes: Uint8Array }
  | { readonly kind: 'ended' }
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  | { readonly kind: 'finish' }
  /** The caller has read so many decrypted bytes. */
  | { readonly kind: 'read'; readonly count: number }
  | { readonly kind: 'close' }
)

/** A message of a TLS thread about the connection `id`. Encrypted bytes are for the server. */
export type TlsReply =
  /** The thread has loaded. */
  | { readonly kind: 'ready' }
  | ({ readonly id: number } & (
      | { readonly kind: 'secured'; readonly certificate: Certificate }
      | { readonly kind: 'encrypted'; readonly bytes: Uint8Array }
      | { readonly kind: 'finished' }
      | { readonly kind: 'decrypted'; readonly bytes: Uint8Array }
      | { readonly kind: 'ended' }
      /** The bytes of a `write` have been encrypted. */
      | { readonly kind: 'written' }
      /** The thread has read so many encrypted bytes. */
      | { readonly kind: 'read'; readonly count: number }
      /** A message of the server kept the thread busy for so many milliseconds. */
      | { readonly kind: 'busy'; readonly ms: number }
      /** TLS failed with the code of an error; `KEY_MISMATCH` for an identity. */
      | { readonly kind: 'failed'; readonly code: string }
      /** The thread has forgotten the connection after `close`. */
      | { readonly kind: 'closed' }
    ))

/** The code of a failure: the key of an identity is not that of its certificate. */
export const KEY_MISMATCH = 'ERR_TLS_KEY_MISMATCH'

/** How many bytes may wait on the way to or from a thread, per connection. */
export const WINDOW_BYTES = 128 * 1024
