import { isIP, type Socket } from 'node:net'
import { connect, type SecureContext, type TLSSocket } from 'node:tls'
import { ownValue } from '../../core/own-value.ts'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import type { Certificate } from './failure.ts'

interface Secured {
  readonly host: string
  readonly verify: boolean
  readonly context: SecureContext
  /** The protocols to offer (ALPN). */
  readonly protocols?: readonly string[] | undefined
}

/**
 * Starts TLS over a connection, which stays open on failure. Stores the certificate in the attempt, even if it is not
 * trusted.
 * @throws Stop `certificate` when `verify` is set and it is not trusted, `tls` or `closed` when the handshake fails.
 */
export async function secure(socket: Socket, target: Secured, state: Attempt): Promise<TLSSocket> {
  const { host, verify } = target
  const secured = await inPhase(state, 'tls', 'TLS handshake', () => handshake(socket, target, state))
  const certificate = certificateOf(secured)
  state.certificate = certificate
  if (!verify || certificate.problem === null) return secured
  throw new Stop('certificate', 'theirs', distrustMessage(certificate, host))
}

function handshake(socket: Socket, { host, context, protocols }: Secured, state: Attempt): Promise<TLSSocket> {
  return awaiting(state, (resolve, reject) => {
    // An address is not a server name (RFC 6066 §3). The certificate is verified afterwards, so failures can include
    // it.
    const servername = isIP(host) ? '' : host
    const offered = protocols === undefined ? {} : { ALPNProtocols: [...protocols] }
    const secured = connect({ socket, host, servername, secureContext: context, rejectUnauthorized: false, ...offered })
    secured.once('secureConnect', () => resolve(secured))
    // The listener stays on the socket, so that an error after the handshake does not throw.
    secured.on('error', (error: NodeJS.ErrnoException) => reject(handshakeFailure(error, host)))
    return () => secured.destroy()
  })
}

/** The messages for failed handshakes, by OpenSSL's code without its prefix. */
const handshakeFailures: readonly (readonly [RegExp, (host: string) => string])[] = [
  [
    /^(WRONG_VERSION_NUMBER|HTTP_REQUEST|HTTPS_PROXY_REQUEST|PACKET_LENGTH_TOO_LONG|RECORD_TOO_SMALL)$/,
    () => 'The server does not use TLS on this port',
  ],
  [/UNRECOGNIZED_NAME$/, (host) => `The server does not recognize the name ${host} (SNI)`],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION$/, () => 'The server supports only TLS 1.1 or older'],
  [/CERTIFICATE_REQUIRED$|ALERT_(BAD_|NO_)?CERTIFICATE$/, () => 'The server requires a client certificate'],
  [
    /HANDSHAKE_FAILURE$|NO_SHARED_CIPHER$|INSUFFICIENT_SECURITY$/,
    () => 'The server accepts none of our TLS versions and ciphers',
  ],
  [/KEY_TOO_SMALL$|MD_TOO_WEAK$/, () => 'The server’s TLS keys are too weak'],
  [/INTERNAL_ERROR$/, () => 'The server failed with an internal error in the TLS handshake'],
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
  // Node's types say that this is an error, but it is the code of one.
  const problem = secured.authorized ? null : String(secured.authorizationError)
  return { validFrom: new Date(valid_from), validTo: new Date(valid_to), problem }
}

function distrustMessage({ problem }: Certificate, host: string): string {
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID') return `TLS certificate is not for ${host}`
  return ownValue(problems, problem ?? '') ?? 'TLS certificate is not trusted'
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
  CERT_SIGNATURE_FAILURE: 'TLS certificate has an invalid signature',
  CERT_CHAIN_TOO_LONG: 'TLS certificate has a chain that is too long',
  PATH_LENGTH_EXCEEDED: 'TLS certificate has a chain that is too long',
  INVALID_CA: 'TLS certificate is issued by a certificate that is not an authority',
  INVALID_PURPOSE: 'TLS certificate is not for servers',
}
