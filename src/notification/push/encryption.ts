import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

/** The keys of a browser's subscription, as the browser created them. */
export interface BrowserKeys {
  /** Its public key on P-256, uncompressed: 65 bytes. */
  readonly p256dh: Buffer
  /** Its authentication secret: 16 bytes. */
  readonly auth: Buffer
}

/** The random inputs of an encryption; given only to reproduce an example. */
export interface Ephemeral {
  readonly salt: Buffer
  readonly privateKey: Buffer
}

const CURVE = 'prime256v1'
const RECORD_BYTES = 4096
/** Follows the text of the last record (RFC 8188 §2). */
const END = Buffer.from([2])

/** Returns whether keys are valid for a subscription: a point on the curve, and 16 bytes. */
export function areBrowserKeys({ p256dh, auth }: BrowserKeys): boolean {
  if (p256dh.length !== 65 || auth.length !== 16) return false
  try {
    const own = createECDH(CURVE)
    own.generateKeys()
    return own.computeSecret(p256dh).length === 32
  } catch {
    return false
  }
}

/**
 * Encrypts a text for a browser (RFC 8291), as one record of `aes128gcm` (RFC 8188). The push service cannot read it.
 * @param text at most 3,993 bytes.
 */
export function encryptFor({ p256dh, auth }: BrowserKeys, text: Buffer, ephemeral?: Ephemeral): Buffer {
  const own = createECDH(CURVE)
  if (ephemeral) own.setPrivateKey(ephemeral.privateKey)
  else own.generateKeys()
  const publicKey = own.getPublicKey()
  const salt = ephemeral?.salt ?? randomBytes(16)
  const about = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, publicKey])
  const secret = Buffer.from(hkdfSync('sha256', own.computeSecret(p256dh), auth, about, 32))
  const derive = (info: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${info}\0`, length))
  const cipher = createCipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(RECORD_BYTES)
  sizes.writeUInt8(publicKey.length, 4)
  const parts = [salt, sizes, publicKey, cipher.update(text), cipher.update(END), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts)
}
