/** Verifies passkeys in a worker thread, because the library takes 0.4 s and 19 MB to load. */
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers'
import { answerTasks } from '../../core/thread/task-worker.ts'
import type { PasskeyAnswer, PasskeyTask } from './passkey-thread.ts'

answerTasks(async (task: PasskeyTask): Promise<PasskeyAnswer> => {
  try {
    return task.kind === 'registration' ? await register(task) : await authenticate(task)
  } catch (error) {
    // The library throws when it refuses a response.
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) }
  }
})

async function register({
  kind: _,
  ...options
}: Extract<PasskeyTask, { kind: 'registration' }>): Promise<PasskeyAnswer> {
  requireNoCertificates(options.response.response.attestationObject)
  const { registrationInfo } = await verifyRegistrationResponse({ ...options, requireUserVerification: true })
  if (!registrationInfo) return { kind: 'refused', message: 'not verified' }
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential
  return { kind: 'registered', id, publicKey, counter, transports }
}

async function authenticate({
  kind: _,
  ...options
}: Extract<PasskeyTask, { kind: 'authentication' }>): Promise<PasskeyAnswer> {
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    ...options,
    requireUserVerification: true,
  })
  return verified
    ? { kind: 'authenticated', counter: authenticationInfo.newCounter }
    : { kind: 'refused', message: 'not verified' }
}

/** We request no attestation. Certificates in one could make the library fetch revocation lists from any address. */
function requireNoCertificates(attestationObject: string): void {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
  const isSelfSigned = decoded.get('fmt') === 'packed' && decoded.get('attStmt').get('x5c') === undefined
  if (decoded.get('fmt') !== 'none' && !isSelfSigned) throw new Error('unexpected attestation')
}
