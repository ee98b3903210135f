import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls'

/** OpenSSL's SSL_OP_NO_RENEGOTIATION, which `node:crypto` lacks. */
const NO_RENEGOTIATION = 0x4000_0000

/**
 * The options of TLS connections to servers that others name. They bound what a handshake computes:
 * - No finite-field Diffie-Hellman, as in browsers: a group of 10,000 bits, OpenSSL's maximum, takes 2 s. In TLS 1.2 the
 *   server chooses the group (RFC 7919 §1), and in TLS 1.3 groups of up to 8,192 bits would be offered.
 * - No other curves than those that all servers support (RFC 8446 §9.1), and P-384 and P-521 as in browsers.
 * - One handshake per connection: in TLS 1.2, a server may demand any number of them.
 */
export const boundedTls = {
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:P-256:P-384:P-521',
  secureOptions: NO_RENEGOTIATION,
} satisfies SecureContextOptions
