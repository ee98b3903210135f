/**
 * The viewers of the bench `pixels`: open status pages without a browser. Each subscribes over its own websocket, which
 * sends what an event has changed, as in the live script; if that is for another version, it fetches the change over a
 * separate connection. The bench controls it over its channel.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gunzipSync, inflateSync } from 'node:zlib'
import { afterPings, frameOf, PING, pong, textOf, upgradeRequest } from './websocket.ts'

/** Opens pages, or waits until each contains a text. */
export type ViewerOrder =
  | { readonly do: 'open'; readonly port: number; readonly slug: string; readonly count: number }
  | { readonly do: 'follow'; readonly text: string }

/** The data that the viewers received about an event. */
export interface Followed {
  /** The time at which the last viewer had it, in milliseconds since 1970. */
  readonly lastAt: number
  /** Bytes per viewer, over the websocket and by fetches. */
  readonly bytesEach: number
  /** Fetches per viewer. */
  readonly requestsEach: number
  /** Connections that were reset and repeated. */
  readonly resets: number
}

/** Viewers per address, below the service's limit. */
const PER_ADDRESS = 500
/** The live script spreads its fetches over this time, in milliseconds. */
const MAX_JITTER = 250

let page = { port: 0, path: '', version: '', parts: '', cursor: '' }
let viewers: { readonly socket: Socket; readonly address: string }[] = []

process.on('message', async (order: ViewerOrder) => {
  if (order.do === 'open') {
    await open(order)
    process.send?.('open')
  } else {
    const followed = follow(order.text)
    process.send?.('following')
    process.send?.(await followed)
  }
})
process.on('disconnect', () => process.exit())

async function open({ port, slug, count }: Extract<ViewerOrder, { do: 'open' }>): Promise<void> {
  page = { ...page, port, path: `/status/${slug}` }
  remember((await get('127.0.0.2', page.path)).body)
  const query =
    'subscription($slug:String!,$host:String,$after:String){event:statusPageChanges(slug:$slug,host:$host,after:$after){cursor isReload patch{since html}}}'
  const payload = { query, variables: { slug, host: null, after: page.cursor } }
  for (const { socket } of viewers) socket.destroy()
  viewers = []
  for (let first = 0; first < count; first += 100) {
    const batch = Array.from({ length: Math.min(100, count - first) }, async (_, index) => {
      const address = `127.0.0.${2 + Math.floor((first + index) / PER_ADDRESS)}`
      const socket = connect({ host: '127.0.0.1', port, localAddress: address })
      socket.write(upgradeRequest)
      await once(socket, 'data')
      socket.write(frameOf({ type: 'connection_init' }))
      await once(socket, 'data')
      socket.write(frameOf({ id: '1', type: 'subscribe', payload }))
      socket.on('data', ([type]) => {
        if (type === PING) socket.write(pong)
      })
      return { socket, address }
    })
    viewers.push(...(await Promise.all(batch)))
  }
}

/** Resolves once each viewer has received an event and has `text`. */
async function follow(text: string): Promise<Followed> {
  const { version, parts } = page
  let bytes = 0
  let requests = 0
  let resets = 0
  let latest = ''
  await Promise.all(
    viewers.map(async ({ socket, address }) => {
      const frame = await nextMessage(socket)
      bytes += frame.length
      const { cursor, patch } = changeIn(frame)
      if (patch?.since.includes(parts)) {
        latest = inflated(patch.html)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_JITTER))
      for (;;) {
        requests += 1
        const answer = await get(address, `${page.path}?since=${version}&at=${cursor}`).catch(() => null)
        if (answer === null) {
          resets += 1
          continue
        }
        const { received, isFinal, body } = answer
        bytes += received
        latest = body
        if (isFinal) return
      }
    }),
  )
  const lastAt = Date.now()
  if (!latest.includes(text)) throw new Error(`The last answer does not contain ${text}`)
  remember(latest)
  return { lastAt, bytesEach: bytes / viewers.length, requestsEach: requests / viewers.length, resets }
}

async function nextMessage(socket: Socket): Promise<Buffer> {
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    const frame = afterPings(chunk)
    if (frame.length > 0) return frame
  }
}

function remember(html: string): void {
  const attribute = (name: string) => new RegExp(`data-${name}="([^"]+)"`).exec(html)?.[1] ?? ''
  page = { ...page, version: attribute('version'), parts: attribute('parts'), cursor: attribute('cursor') }
}

/** An event as sent over the websocket. */
interface Change {
  readonly cursor: string
  readonly patch: { readonly since: readonly string[]; readonly html: string } | null
}

let lastFrame: { readonly text: string; readonly change: Change } = { text: '', change: { cursor: '', patch: null } }

function changeIn(frame: Buffer): Change {
  const text = textOf(frame)
  // Most viewers get the same bytes.
  if (text !== lastFrame.text) {
    const { payload } = JSON.parse(text)
    lastFrame = { text, change: payload.data.event }
  }
  return lastFrame.change
}

let lastPatch = { zipped: '', html: '' }

function inflated(zipped: string): string {
  if (zipped !== lastPatch.zipped) lastPatch = { zipped, html: inflateSync(Buffer.from(zipped, 'base64')).toString() }
  return lastPatch.html
}

let last: { readonly raw: string; readonly html: string } = { raw: '', html: '' }

/**
 * Fetches a path over a new connection. `isFinal`: whether a cache may keep it, so that it is not from before the
 * event.
 */
async function get(localAddress: string, path: string) {
  const socket = connect({ host: '127.0.0.1', port: page.port, localAddress })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  const all = Buffer.concat(chunks)
  const end = all.indexOf('\r\n\r\n')
  const head = all.subarray(0, end).toString('latin1')
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(head)
  const raw = all.subarray(end + 4)
  // Most viewers get the same bytes.
  if (raw.toString('latin1') !== last.raw) last = { raw: raw.toString('latin1'), html: gunzipSync(raw).toString() }
  return { received: all.length, isFinal: /s-maxage/i.test(head), body: last.html }
}
