import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { SECOND } from '../../core/time.ts'

/** A code is valid for 30 seconds (RFC 6238 §5.2). */
const STEP = 30 * SECOND
const DIGITS = 6
/** 160 bits, as recommended by RFC 4226 §4. */
const SECRET_BYTES = 20
/** The previous and the next code are accepted too, because clocks of phones differ. */
const TOLERATED_STEPS = [0, -1, 1]

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns a new secret for an authenticator app, in base32. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES))
}

/** Returns the code of a time step (RFC 4226 §5.3 with SHA-1, which all apps support). */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = digest.readUInt8(digest.length - 1) & 0x0f
  const number = digest.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/**
 * Returns the time step of a code; null: the code is wrong.
 * @param last the step of the last accepted code. That step and earlier ones are refused, so that no code works twice.
 */
export function stepOfCode(secret: string, code: string, now: Date, last: number | null): number | null {
  const current = Math.floor(now.getTime() / STEP)
  const steps = TOLERATED_STEPS.map((offset) => current + offset).filter((step) => last === null || step > last)
  return steps.find((step) => isSame(totpCode(secret, step), code)) ?? null
}

/** Returns the URL that an app reads the secret from. */
export function totpUrl(secret: string, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Encodes bytes in base32. Their number must be a multiple of five. */
function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replace(/.{5}/g, (five) => BASE32.charAt(Number.parseInt(five, 2)))
}

function bytesOf(text: string): Buffer {
  const bits = Array.from(text, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}
