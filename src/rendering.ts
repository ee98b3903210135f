import { LRUCache } from 'lru-cache'
import type { Context } from './context.ts'
import { inTransaction } from './context.ts'
import { Unavailable } from './errors.ts'
import { renderMarkdown, textAsHtml } from './markdown.ts'
import { createTaskThread } from './task-thread.ts'
import { SECOND } from './time.ts'

/** Raised when the HTML of messages changes, so that what is stored is rendered anew. */
export const HTML_VERSION = 1

/** The columns of a message that hold what it is rendered to; `html` null: it has not been yet. */
export interface StoredHtml {
  readonly html: string | null
  readonly htmlVersion: number
}

/** Up to this many characters the worst message takes a few milliseconds, and needs no thread. */
const SHORT = 250
/** The most characters of HTML that are stored; the longest message, escaped, has as many. */
const LONGEST_HTML = 60_000
/** Ordinary messages take a fiftieth of it. */
const DEADLINE = SECOND / 2
/** Characters of HTML that are remembered: what is prepared before a transaction is asked for again inside it. */
const REMEMBERED = 1024 * 1024

const thread = createTaskThread<string, string>('markdown-worker', {
  deadline: DEADLINE,
  waiting: 100,
  waitingOfOne: 10,
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
})

const remembered = new LRUCache<string, string>({ maxSize: REMEMBERED, sizeCalculation: (html) => html.length + 1 })

/**
 * Renders a message as it is stored. Call it before a transaction: nothing may wait for a thread inside one, and so a long
 * message that was not rendered before comes without HTML there. It is rendered later then, as when too many wait: see
 * `renderStored`. One that takes too long is stored as it was typed.
 * @param owner the organization, of which there may be many at once.
 */
export async function renderMessage(ctx: Context, owner: string, message: string): Promise<StoredHtml> {
  if (message.length <= SHORT) return stored(renderMarkdown(message))
  const known = remembered.get(message)
  if (known !== undefined) return stored(known)
  if (inTransaction(ctx.db)) return notYet
  const html = await renderInThread(ctx, owner, message)
  if (html === null) return notYet
  remembered.set(message, html)
  return stored(html)
}

const stored = (html: string): StoredHtml => ({ html, htmlVersion: HTML_VERSION })

/** The columns of a message that is rendered later. */
const notYet: StoredHtml = { html: null, htmlVersion: 0 }

/** Null: others are before it. */
async function renderInThread({ log }: Context, owner: string, message: string): Promise<string | null> {
  try {
    const html = await thread.run(owner, message)
    return html.length <= LONGEST_HTML ? html : textAsHtml(message)
  } catch (error) {
    if (error instanceof Unavailable) return null
    log.warn({ err: error, organization: owner }, 'rendering: a message is shown as it was typed')
    return textAsHtml(message)
  }
}

/** What readers show of a message: its HTML, or the message as it was typed until it has some. */
export function htmlOf({
  message,
  html,
}: {
  readonly message: string
  readonly html?: string | null | undefined
}): string {
  return html ?? textAsHtml(message)
}

/** A table of messages. */
type Messages = 'incidentUpdate' | 'maintenanceUpdate'

/** How many messages are rendered in one round. */
const AT_ONCE = 20

/**
 * Renders stored messages that have no HTML, or that of older rules: those from before there was any, and those that came when
 * nothing could wait for them. Gives whether there may be more of them.
 */
export async function renderStored(ctx: Context): Promise<boolean> {
  const incidents = await renderOf(ctx, 'incidentUpdate')
  const maintenances = await renderOf(ctx, 'maintenanceUpdate')
  return incidents || maintenances
}

async function renderOf(ctx: Context, table: Messages): Promise<boolean> {
  // Both have the columns that are asked for.
  const messages = ctx.db[table] as Context['db']['maintenanceUpdate']
  const found = await messages.findMany({
    where: { htmlVersion: { lt: HTML_VERSION } },
    select: { id: true, organizationId: true, message: true },
    take: AT_ONCE,
  })
  for (const { id, organizationId, message } of found) {
    const rendered = await renderMessage(ctx, organizationId, message)
    if (rendered.html === null) return false
    // Unless it was edited meanwhile.
    await messages.updateMany({ where: { id, message }, data: rendered })
  }
  return found.length === AT_ONCE
}

/** Ends the thread, when the service stops. */
export const closeRendering = thread.close
