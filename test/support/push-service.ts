import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A message as the push service received it, and as the browser reads it. */
interface PushedMessage {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Decrypted; null: the service does not know this browser. */
  readonly text: string | null
}

/** A subscription as a browser reports it. */
export interface FakeSubscription {
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

/** The keys of a browser. */
interface Keys {
  readonly privateKey: Buffer
  readonly auth: Buffer
}

/** Decrypts a message as a browser does (RFC 8291), without our code. */
export function decryptAsBrowser({ privateKey, auth }: Keys, body: Buffer): string {
  const own = createECDH('prime256v1')
  own.setPrivateKey(privateKey)
  const [salt, length] = [body.subarray(0, 16), body.readUInt8(20)]
  const sender = body.subarray(21, 21 + length)
  const sealed = body.subarray(21 + length)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), own.getPublicKey(), sender])
  const secret = Buffer.from(hkdfSync('sha256', own.computeSecret(sender), auth, info, 32))
  const derive = (what: string, size: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${what}\0`, size))
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
  decipher.setAuthTag(sealed.subarray(-16))
  const text = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
  if (text.at(-1) !== 2) throw new Error('The record has no end.')
  return text.subarray(0, -1).toString('utf8')
}

/**
 * Returns the claims of a VAPID header.
 * @throws when its signature is wrong.
 */
export function vapidClaims(header: string): { readonly aud: string; readonly exp: number; readonly sub: string } {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? []
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const [head = '', claims = '', signature = ''] = token.split('.')
  const isRight = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isRight) throw new Error('The signature is wrong.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}

/** Starts a push service on loopback that creates browsers; the caller closes it. */
export async function startPushService() {
  const received: PushedMessage[] = []
  const browsers = new Map<string, Keys>()
  const service = {
    received,
    /** Its answer to messages at a path. */
    answer: (_path: string): { readonly status: number; readonly headers?: Readonly<Record<string, string>> } => ({
      status: 201,
    }),
    url: '',
    /** Returns the subscription of a new browser. */
    subscribe(): FakeSubscription {
      const own = createECDH('prime256v1')
      own.generateKeys()
      const path = `/push/${randomBytes(9).toString('hex')}`
      const auth = randomBytes(16)
      browsers.set(path, { privateKey: own.getPrivateKey(), auth })
      const [p256dh, secret] = [own.getPublicKey(), auth].map((bytes) => bytes.toString('base64url'))
      return { endpoint: service.url + path, p256dh: p256dh ?? '', auth: secret ?? '' }
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    const keys = browsers.get(path)
    const body = await buffer(request)
    received.push({ path, headers, text: keys ? decryptAsBrowser(keys, body) : null })
    const { status, headers: own = {} } = service.answer(path)
    response.writeHead(status, own).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return service
}
