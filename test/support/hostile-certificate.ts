import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import {
  type Certified,
  commonName,
  der,
  ecdsa,
  extension,
  objectId,
  pem,
  privatePem,
  sequence,
  time,
} from './certificate.ts'

/** The signer of a certificate: its public key, and a function that signs or pretends to. */
interface Signer {
  readonly publicKey: Buffer
  readonly algorithm: Buffer
  sign(content: Buffer): Buffer
}

const DAY = 86_400_000
const CHAIN_BYTES = 100 * 1024

/** An odd number of a length: no prime, because a client does not check that. */
function oddNumber(bits: number, top = 0xc0): Buffer {
  const bytes = randomBytes(bits / 8)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | top
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1
  return bytes
}

const integer = (bytes: Buffer) => der(0x02, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
const bitString = (bytes: Buffer) => der(0x03, Buffer.from([0]), bytes)
const none = der(0x05)

/** An RSA key (RFC 8017 §A.1.1) with an exponent of so many bits. Signatures are random. */
export function rsaSigner(bits: number, exponentBits: number): Signer {
  const key = sequence(integer(oddNumber(bits)), integer(oddNumber(exponentBits, 0x40)))
  return {
    publicKey: sequence(sequence(objectId('2a864886f70d010101'), none), bitString(key)),
    algorithm: sequence(objectId('2a864886f70d01010b'), none),
    sign: () => oddNumber(bits, 0x10),
  }
}

/** A DSA key (RFC 3279 §2.3.2) of 10,000 bits, OpenSSL's maximum. Signatures are random. */
export function dsaSigner(): Signer {
  const parameters = sequence(integer(oddNumber(10_000)), integer(oddNumber(256)), integer(oddNumber(10_000, 0x20)))
  const key = bitString(integer(oddNumber(10_000, 0x10)))
  return {
    publicKey: sequence(sequence(objectId('2a8648ce380401'), parameters), key),
    algorithm: sequence(objectId('608648016503040302')),
    sign: () => sequence(integer(oddNumber(256, 0x20)), integer(oddNumber(256, 0x20))),
  }
}

/** A key on a curve. Its signatures are valid. */
export function curveSigner(curve: string): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: curve })
  return {
    publicKey: spki(publicKey),
    algorithm: ecdsa,
    sign: (content) => sign('sha256', content, privateKey),
  }
}

const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })

/** The contents of a certificate that is not like others. */
interface Oddities {
  /** Its extensions. */
  readonly extensions?: readonly Buffer[]
  /** Its validity; absent: from yesterday for 90 days. */
  readonly validity?: Buffer
}

function certificate(subject: string, key: Buffer, issuer: string, signer: Signer, oddities: Oddities = {}): Buffer {
  const {
    extensions = [],
    validity = sequence(time(new Date(Date.now() - DAY)), time(new Date(Date.now() + 90 * DAY))),
  } = oddities
  const version = der(0xa0, integer(Buffer.from([2])))
  const serial = integer(oddNumber(64, 0x40))
  const more = extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]
  const content = sequence(
    version,
    serial,
    signer.algorithm,
    commonName(issuer),
    validity,
    commonName(subject),
    key,
    ...more,
  )
  return sequence(content, signer.algorithm, bitString(signer.sign(content)))
}

/**
 * A chain of as many certificates as OpenSSL accepts, up to 100 or 100 KiB, whose authorities all have the key of one
 * signer.
 * @param authority the oddities of each authority, @param leaf those of the server's certificate.
 */
export function longChain(
  signer: Signer,
  { authority = {}, leaf = {} }: { authority?: Oddities; leaf?: Oddities } = {},
): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const authorities = Array.from({ length: 99 }, (_, index) =>
    certificate(`c${index}`, signer.publicKey, `c${index + 1}`, signer, authority),
  )
  const all = [certificate('leaf', spki(publicKey), 'c0', signer, leaf), ...authorities]
  let bytes = 0
  const sent = all.filter((each) => {
    // Each has a length of three bytes before it, and extensions after it (RFC 8446 §4.4.2).
    bytes += each.length + 5
    return bytes < CHAIN_BYTES - 100
  })
  return { cert: sent.map((each) => pem('CERTIFICATE', each)).join(''), key: privatePem(privateKey) }
}

/** A self-signed certificate with oddities. */
export function oddCertificate(oddities: Oddities): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = {
    publicKey: spki(publicKey),
    algorithm: ecdsa,
    sign: (content: Buffer) => sign('sha256', content, privateKey),
  }
  return {
    cert: pem('CERTIFICATE', certificate('leaf', signer.publicKey, 'leaf', signer, oddities)),
    key: privatePem(privateKey),
  }
}

/** Subject alternative names. */
export const manyNames = (names: readonly string[]): Buffer =>
  extension('551d11', sequence(...names.map((name) => der(0x82, Buffer.from(name)))))

/** Name constraints that permit these domains (RFC 5280 §4.2.1.10), of an authority. */
export const constraints = (names: readonly string[]): readonly Buffer[] => [
  extension('551d13', sequence(der(0x01, Buffer.from([0xff])))),
  extension('551d1e', sequence(der(0xa0, ...names.map((name) => sequence(der(0x82, Buffer.from(name))))))),
]

/** A validity whose dates are no dates. */
export const impossibleDates = sequence(der(0x17, Buffer.from('x'.repeat(13))), der(0x17, Buffer.from('999999999999Z')))

/** Parameters of a Diffie-Hellman group of 10,000 bits, OpenSSL's maximum, in PEM (PKCS #3). */
export const largeGroup = (): string =>
  pem('DH PARAMETERS', sequence(integer(oddNumber(10_000)), integer(Buffer.from([2]))))
