import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** An authenticator's answer, as our script sends it. */
export interface AuthenticatorAnswer {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly clientExtensionResults: object
  readonly response: Readonly<Record<string, string>>
}

/** The differences of an answer from an honest one. */
interface Forgery {
  readonly origin?: string
  readonly rpId?: string
  /** Whether the owner has entered a PIN or used a finger. */
  readonly isVerified?: boolean
  /** The signature counter; absent: 0, which means that there is none. */
  readonly counter?: number
  readonly type?: string
  /** Whether the page is in a frame of another site. */
  readonly crossOrigin?: boolean
}

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40

/** A platform authenticator with one passkey, in this process (WebAuthn level 3 §6). */
export function createAuthenticator({ origin, rpId }: { readonly origin: string; readonly rpId: string }) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const rawId = randomBytes(32)
  const id = rawId.toString('base64url')
  // COSE: EC2 (1: 2), ES256 (3: -7), P-256 (-1: 1), x (-2), y (-3).
  const coseKey = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])

  function clientData(type: string, challenge: string, forgery: Forgery): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: forgery.type ?? type,
        challenge,
        origin: forgery.origin ?? origin,
        crossOrigin: forgery.crossOrigin ?? false,
      }),
    )
  }

  function authenticatorData(forgery: Forgery, credential = Buffer.alloc(0)): Buffer {
    const { isVerified = true, counter = 0 } = forgery
    const flags = USER_PRESENT | (isVerified ? USER_VERIFIED : 0) | (credential.length > 0 ? HAS_CREDENTIAL : 0)
    const tail = Buffer.alloc(5)
    tail.writeUInt8(flags)
    tail.writeUInt32BE(counter, 1)
    return Buffer.concat([
      createHash('sha256')
        .update(forgery.rpId ?? rpId)
        .digest(),
      tail,
      credential,
    ])
  }

  const answer = (response: Record<string, Buffer>): AuthenticatorAnswer => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: Object.fromEntries(Object.entries(response).map(([name, bytes]) => [name, bytes.toString('base64url')])),
  })

  return {
    id,
    /**
     * Answers the options of a registration.
     * @param format of the attestation.
     */
    register(challenge: string, forgery: Forgery & { readonly attestation?: Buffer } = {}): AuthenticatorAnswer {
      const length = Buffer.from([0, rawId.length])
      const data = authenticatorData(forgery, Buffer.concat([Buffer.alloc(16), length, rawId, coseKey]))
      // CBOR: {fmt: 'none', attStmt: {}, authData: bytes}.
      const attestation = forgery.attestation ?? Buffer.from('63666d74646e6f6e656761747453746d74a0', 'hex')
      const head = Buffer.concat([Buffer.from([0xa3]), attestation, Buffer.from('68617574684461746158', 'hex')])
      const attestationObject = Buffer.concat([head, Buffer.from([data.length]), data])
      return answer({ clientDataJSON: clientData('webauthn.create', challenge, forgery), attestationObject })
    },
    /** Answers the options of a sign-in. */
    authenticate(challenge: string, forgery: Forgery = {}): AuthenticatorAnswer {
      const clientDataJSON = clientData('webauthn.get', challenge, forgery)
      const data = authenticatorData(forgery)
      const signed = Buffer.concat([data, createHash('sha256').update(clientDataJSON).digest()])
      return answer({ clientDataJSON, authenticatorData: data, signature: sign('sha256', signed, privateKey) })
    },
  }
}
