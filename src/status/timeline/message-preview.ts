import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { htmlOf, renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { validate } from '../../core/validation.ts'
import type { Language } from '../../language/catalogue.ts'
import { message } from './timeline-limits.ts'
import { messageChanges, storedTexts, translations } from './translations.ts'

/** An unsaved message, in HTML. */
export interface MessagePreview {
  readonly html: string
  readonly translations: readonly { readonly language: Language; readonly html: string }[]
}

const draft = z.object({ message, translations: translations.both })

/**
 * Renders the message of an unsaved update and its translations as the page would show them. Saves nothing.
 * Requires the scope WRITE.
 * @throws Invalid.
 */
export async function previewMessage(ctx: Context, input: unknown): Promise<MessagePreview> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(draft, input)
  const others = await messageChanges(ctx, organizationId, given.translations)
  return {
    html: htmlOf({ message: given.message, ...(await renderMessage(ctx, organizationId, given.message)) }),
    translations: storedTexts<NonNullable<(typeof others)[Language]>>({ ...others }).map(({ language, text }) => ({
      language,
      html: htmlOf(text),
    })),
  }
}
