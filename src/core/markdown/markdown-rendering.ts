import { LRUCache } from 'lru-cache'
import type { Context } from '../context.ts'
import { inTransaction } from '../context.ts'
import { Unavailable } from '../errors.ts'
import { createTaskThread } from '../thread/task-thread.ts'
import { SECOND } from '../time.ts'
import { renderMarkdown, textAsHtml } from './markdown.ts'

/** The version of the rendering; a new version renders stored messages again. */
export const HTML_VERSION = 1

/** The columns with a message's HTML; `html` null: not rendered yet. */
export interface StoredHtml {
  readonly html: string | null
  readonly htmlVersion: number
}

/** The column with a message in other languages: by language, with its HTML; null: not rendered yet. */
export type StoredMessages = Readonly<Record<string, { readonly message: string; readonly html: string | null }>>

/** The maximum length of messages rendered without a thread: the worst one takes a few milliseconds. */
const MAX_INLINE_LENGTH = 250
/** The maximum length of stored HTML, which the longest escaped message has. */
const MAX_HTML_LENGTH = 60_000
/** Typical messages take a fiftieth of it. */
const TIMEOUT_MS = SECOND / 2
/** The characters of cached HTML: messages rendered before a transaction are requested again inside it. */
const CACHE_LENGTH = 1024 * 1024

const thread = createTaskThread<string, string>('core/markdown/markdown-worker', {
  timeoutMs: TIMEOUT_MS,
  maxWaiting: 100,
  maxWaitingPerOwner: 10,
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
})

const cache = new LRUCache<string, string>({ maxSize: CACHE_LENGTH, sizeCalculation: (html) => html.length + 1 })

/**
 * Renders a message for storage. Call it before a transaction: inside one, nothing may wait for a thread, so a long
 * message that was not rendered before gets no HTML. A background job renders it later, as it does when the queue is
 * full. A message that takes too long is stored as plain text.
 * @param owner the organization; each has a share of the queue.
 */
export async function renderMessage(ctx: Context, owner: string, message: string): Promise<StoredHtml> {
  if (message.length <= MAX_INLINE_LENGTH) return stored(renderMarkdown(message))
  const known = cache.get(message)
  if (known !== undefined) return stored(known)
  if (inTransaction(ctx.db)) return unrendered
  const html = await renderInThread(ctx, owner, message)
  if (html === null) return unrendered
  cache.set(message, html)
  return stored(html)
}

const stored = (html: string): StoredHtml => ({ html, htmlVersion: HTML_VERSION })

/** The columns of a message to be rendered later. */
const unrendered: StoredHtml = { html: null, htmlVersion: 0 }

/** Renders a message in the thread; null: the queue is full. */
async function renderInThread({ log }: Context, owner: string, message: string): Promise<string | null> {
  try {
    const html = await thread.run(owner, message)
    return html.length <= MAX_HTML_LENGTH ? html : textAsHtml(message)
  } catch (error) {
    if (error instanceof Unavailable) return null
    log.warn({ err: error, organization: owner }, 'rendering: showing a message as plain text')
    return textAsHtml(message)
  }
}

/** Returns a message's HTML, or the escaped message until it is rendered. */
export function htmlOf({
  message,
  html,
}: {
  readonly message: string
  readonly html?: string | null | undefined
}): string {
  return html ?? textAsHtml(message)
}

/** Renders a message in other languages; null: the queue is full. */
export async function renderOthers(
  ctx: Context,
  owner: string,
  stored: StoredMessages,
): Promise<StoredMessages | null> {
  const rendered: [string, StoredMessages[string]][] = []
  for (const [language, { message }] of Object.entries(stored)) {
    const { html } = await renderMessage(ctx, owner, message)
    if (html === null) return null
    rendered.push([language, { message, html }])
  }
  return Object.fromEntries(rendered)
}

/** Ends the thread, when the service stops. */
export const closeRendering = thread.close
