import { isIP, type Socket } from 'node:net'
import { connect, type SecureContext, type TLSSocket } from 'node:tls'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import type { Certificate } from './failure.ts'

/**
 * Speaks TLS over a connection, which stays open when that fails. The certificate is noted in the attempt whether it is trusted or not.
 * @throws Stop `certificate` when it is not trusted and `verify` asks for that, `tls` or `closed` when there is no handshake.
 */
export async function secure(
  socket: Socket,
  { host, verify, context }: { readonly host: string; readonly verify: boolean; readonly context: SecureContext },
  state: Attempt,
): Promise<TLSSocket> {
  const secured = await inPhase(state, 'tls', 'TLS handshake', () => shakeHands(socket, host, context, state))
  const certificate = certificateOf(secured)
  state.certificate = certificate
  if (!verify || certificate.problem === null) return secured
  throw new Stop('certificate', 'theirs', distrust(certificate, host))
}

function shakeHands(socket: Socket, host: string, context: SecureContext, state: Attempt): Promise<TLSSocket> {
  return awaiting(state, (resolve, reject) => {
    // An address is no server name (RFC 6066 §3). The certificate is judged afterwards, so that it can be told of.
    const servername = isIP(host) ? '' : host
    const secured = connect({ socket, host, servername, secureContext: context, rejectUnauthorized: false })
    secured.once('secureConnect', () => resolve(secured))
    // It stays, so that a connection that breaks later does not throw.
    secured.on('error', (error: NodeJS.ErrnoException) => reject(handshakeFailure(error, host)))
    return () => secured.destroy()
  })
}

/** What a failed handshake means, by OpenSSL's code without its beginning. */
const handshakeFailures: readonly (readonly [RegExp, (host: string) => string])[] = [
  [
    /^(WRONG_VERSION_NUMBER|HTTP_REQUEST|HTTPS_PROXY_REQUEST|PACKET_LENGTH_TOO_LONG|RECORD_TOO_SMALL)$/,
    () => 'Answers, but not with TLS',
  ],
  [/UNRECOGNIZED_NAME$/, (host) => `The server knows no such name (SNI): ${host}`],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION$/, () => 'Offers only TLS 1.1 or older'],
  [/CERTIFICATE_REQUIRED$|ALERT_(BAD_|NO_)?CERTIFICATE$/, () => 'The server asks for a certificate of the client'],
  [
    /HANDSHAKE_FAILURE$|NO_SHARED_CIPHER$|INSUFFICIENT_SECURITY$/,
    () => 'The server takes none of our TLS versions and ciphers',
  ],
  [/KEY_TOO_SMALL$|MD_TOO_WEAK$/, () => 'The server’s TLS keys are too weak'],
  [/INTERNAL_ERROR$/, () => 'The server had an error of its own in the TLS handshake'],
]

function handshakeFailure({ code = '' }: NodeJS.ErrnoException, host: string): Stop {
  if (!code.startsWith('ERR_SSL_') && code !== 'EPROTO') {
    return new Stop('closed', 'theirs', 'Connection closed during the TLS handshake')
  }
  const known = handshakeFailures.find(([pattern]) => pattern.test(code.replace(/^ERR_SSL_/, '')))
  return new Stop('tls', 'theirs', known ? known[1](host) : 'TLS handshake failed')
}

function certificateOf(secured: TLSSocket): Certificate {
  const { valid_from, valid_to } = secured.getPeerCertificate()
  // Node types it as an error, and gives its code.
  const problem = secured.authorized ? null : String(secured.authorizationError)
  return { validFrom: new Date(valid_from), validTo: new Date(valid_to), problem }
}

function distrust({ problem }: Certificate, host: string): string {
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID') return `TLS certificate is not for ${host}`
  return problems[problem ?? ''] ?? 'TLS certificate is not trusted'
}

const unknownIssuer = 'TLS certificate is from an unknown issuer, or its chain is incomplete'

const problems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'TLS certificate has expired',
  CERT_NOT_YET_VALID: 'TLS certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS certificate is from an unknown issuer',
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  CERT_REVOKED: 'TLS certificate has been revoked',
  CERT_SIGNATURE_FAILURE: 'TLS certificate has a wrong signature',
  CERT_CHAIN_TOO_LONG: 'TLS certificate has a chain that is too long',
  PATH_LENGTH_EXCEEDED: 'TLS certificate has a chain that is too long',
  INVALID_CA: 'TLS certificate is issued by one that may issue none',
  INVALID_PURPOSE: 'TLS certificate is not for servers',
}
