import type { Socket } from 'node:net'
import { ownValue } from '../../core/own-value.ts'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import type { Certificate } from './failure.ts'
import { ONLY_HTTP2 } from './response-head.ts'
import { type SecuredSocket, TOO_MUCH } from './secured-socket.ts'
import { KEY_MISMATCH, type TlsSettings } from './tls-message.ts'
import type { TlsThreads } from './tls-threads.ts'

interface Secured extends TlsSettings {
  readonly address: string
  readonly verify: boolean
}

/**
 * Starts TLS over a connection. Stores the certificate in the attempt, even if it is not trusted.
 * @throws Stop `certificate` when `verify` is set and it is not trusted, `tls`, `protocol` or `closed` when the handshake
 * fails, `invalid` when the key of the identity is not that of its certificate, `local` when no thread can be started.
 */
export async function secure(
  threads: TlsThreads,
  socket: Socket,
  target: Secured,
  state: Attempt,
): Promise<SecuredSocket> {
  const { host, verify, address } = target
  await state
    .pauseDuring(() => threads.ready(address))
    .catch(() => {
      throw new Stop('local', 'ours', 'This machine could not start a thread for TLS')
    })
  const { secured, certificate } = await inPhase(state, 'tls', 'TLS handshake', () =>
    handshake(threads, socket, target, state),
  )
  const isDated = !Number.isNaN(certificate.validFrom.getTime()) && !Number.isNaN(certificate.validTo.getTime())
  state.certificate = isDated ? certificate : null
  if (!verify || certificate.problem === null) return secured
  secured.destroy()
  throw new Stop('certificate', 'theirs', distrustMessage(certificate, host))
}

function handshake(
  threads: TlsThreads,
  socket: Socket,
  { host, address, protocols, identity }: Secured,
  state: Attempt,
): Promise<{ readonly secured: SecuredSocket; readonly certificate: Certificate }> {
  return awaiting(state, (resolve, reject) => {
    const secured = threads.start(socket, address, { host, protocols, identity })
    secured.once('secureConnect', (certificate: Certificate) => resolve({ secured, certificate }))
    // The listener stays on the socket, so that an error after the handshake does not throw.
    secured.on('error', (error: NodeJS.ErrnoException) => reject(handshakeFailure(error, host, protocols ?? [])))
    return () => secured.destroy()
  })
}

/** The messages for failed handshakes, by OpenSSL's code without its prefix. */
const handshakeFailures: readonly (readonly [RegExp, (host: string, protocols: readonly string[]) => string])[] = [
  [
    /^(WRONG_VERSION_NUMBER|HTTP_REQUEST|HTTPS_PROXY_REQUEST|PACKET_LENGTH_TOO_LONG|RECORD_TOO_SMALL)$/,
    () => 'The server does not use TLS on this port',
  ],
  [/UNRECOGNIZED_NAME$/, (host) => `The server does not recognize the name ${host} (SNI)`],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION$/, () => 'The server supports only TLS 1.1 or older'],
  [/CERTIFICATE_REQUIRED$|ALERT_(BAD_|NO_)?CERTIFICATE$/, () => 'The server requires a client certificate'],
  [
    /HANDSHAKE_FAILURE$|NO_SHARED_CIPHER$|INSUFFICIENT_SECURITY$/,
    () => 'The server accepts none of our TLS versions and ciphers (Diffie-Hellman only with elliptic curves)',
  ],
  [/KEY_TOO_SMALL$|MD_TOO_WEAK$/, () => 'The server’s TLS keys are too weak'],
  [
    /NO_APPLICATION_PROTOCOL$/,
    (_, protocols) => (protocols.includes('http/1.1') ? ONLY_HTTP2 : `The server does not speak ${protocols}`),
  ],
  [/INTERNAL_ERROR$/, () => 'The server failed with an internal error in the TLS handshake'],
]

function handshakeFailure({ code = '' }: NodeJS.ErrnoException, host: string, protocols: readonly string[]): Stop {
  if (code === KEY_MISMATCH) return new Stop('invalid', 'theirs', 'The client certificate and the key do not match')
  if (code === TOO_MUCH) return new Stop('protocol', 'theirs', 'The server sent too much data in the TLS handshake')
  if (!code.startsWith('ERR_SSL_') && code !== 'EPROTO') {
    return new Stop('closed', 'theirs', 'Connection closed during the TLS handshake')
  }
  const known = handshakeFailures.find(([pattern]) => pattern.test(code.replace(/^ERR_SSL_/, '')))
  return new Stop('tls', 'theirs', known ? known[1](host, protocols) : 'TLS handshake failed')
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
  ERROR_IN_CERT_NOT_BEFORE_FIELD: 'TLS certificate has an invalid date',
  ERROR_IN_CERT_NOT_AFTER_FIELD: 'TLS certificate has an invalid date',
  INVALID_PURPOSE: 'TLS certificate is not for servers',
}
