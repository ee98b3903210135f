import { z } from 'zod'
import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { htmlOf, renderMessage } from '../core/markdown-rendering.ts'
import { validate } from '../core/validation.ts'
import { message } from './timeline-limits.ts'

/**
 * Renders the message of an update that somebody is writing, as the page would show it. Nothing is saved. Requires the scope
 * WRITE.
 * @throws Invalid.
 */
export async function previewMessage(ctx: Context, input: unknown): Promise<string> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(z.object({ message }), input)
  return htmlOf({ message: given.message, ...(await renderMessage(ctx, organizationId, given.message)) })
}
