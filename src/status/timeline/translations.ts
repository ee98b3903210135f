import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { described, named } from '../../core/described.ts'
import type { StoredHtml, StoredMessages } from '../../core/markdown/markdown-rendering.ts'
import { htmlOf, renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { invalid } from '../../core/validation.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { Language, languages } from '../../language/catalogue.ts'
import { message, titleText } from './timeline-limits.ts'

/** The maximum length of a message in all other languages together, in characters. */
export const MAX_TRANSLATED_LENGTH = 40_000

const absent = z.null('must not be given here').optional()

const language = described(named(z.enum(languages), { name: 'Language', of: Language }), {
  description: 'The language.',
})
const title = described(titleText.nullish(), {
  description: 'The title. Null removes it; omitted, it stays as it is.',
})
const text = described(message.nullish(), {
  description: 'The message, in markdown. Null removes it; omitted, it stays as it is.',
})

const STAY =
  'in other languages, for readers of those languages. When you edit, languages that you leave out stay as they are. The messages have at most 40,000 characters in total.'

/** Returns the schema of a list with an item for each language. */
const oneEach = <T extends z.ZodType<{ readonly language: Language }>>(item: T, what: string) =>
  described(
    z
      .array(item)
      .refine(
        (given) => new Set(given.map((each) => each.language)).size === given.length,
        'must name each language once',
      )
      .nullish(),
    { description: `${what} ${STAY}` },
  )

/** Schemas for texts in other languages. Null removes a text; absent languages stay. */
export const translations = {
  both: oneEach(
    named(z.object({ language, title, message: text }), {
      name: 'Translation',
      about: 'Title and message in another language.',
    }),
    'Title and message',
  ),
  titles: oneEach(
    named(z.object({ language, title, message: absent }), {
      name: 'TitleTranslation',
      about: 'A title in another language.',
    }),
    'The title',
  ),
  messages: oneEach(
    named(z.object({ language, title: absent, message: text }), {
      name: 'MessageTranslation',
      about: 'A message in another language.',
    }),
    'The message',
  ),
} as const

/** Texts in other languages, as given. */
export type Translations =
  | readonly {
      readonly language: Language
      readonly title?: string | null | undefined
      readonly message?: string | null | undefined
    }[]
  | null
  | undefined

type ByLanguage<T> = Readonly<Partial<Record<Language, T>>>

/** The titles to set; null removes one. */
export type TitleChanges = ByLanguage<string | null>

/** The messages to set; null removes one. */
export type MessageChanges = ByLanguage<StoredMessages[string] | null>

/** Returns the changes of titles in an input. */
export function titleChanges(given: Translations): TitleChanges {
  return byLanguage((given ?? []).filter(({ title }) => title !== undefined).map((each) => [each.language, each.title]))
}

/**
 * Renders the messages of an input, for storage. Call it before a transaction, like `renderMessage`.
 * @throws Invalid when they are too long together.
 */
export async function messageChanges(
  ctx: Context,
  organizationId: string,
  given: Translations,
): Promise<MessageChanges> {
  const changes: [Language, MessageChanges[Language]][] = []
  requireTranslatedLength((given ?? []).map((each) => each.message?.length ?? 0))
  for (const { language, message } of given ?? []) {
    if (message === undefined) continue
    const rendered = message === null ? null : await renderMessage(ctx, organizationId, message)
    changes.push([language, message === null || rendered === null ? null : { message, html: rendered.html }])
  }
  return byLanguage(changes)
}

/** Applies changes to stored texts. */
export function withChanges<T>(stored: Prisma.JsonValue, changes: ByLanguage<T | null>): Record<string, T> {
  const known = typeof stored === 'object' && stored !== null ? stored : {}
  const texts = Object.entries({ ...known, ...changes }).filter(([, text]) => text !== null)
  // Only this module writes `titles` and `translations` columns.
  return Object.fromEntries(texts) as Record<string, T>
}

/**
 * Applies changes to the stored messages of an update. Returns the columns.
 * @throws Invalid when all together are too long.
 */
export function changedMessages(
  stored: Prisma.JsonValue,
  changes: MessageChanges,
): { readonly translations: StoredMessages } & Partial<Pick<StoredHtml, 'htmlVersion'>> {
  const translations = withChanges<StoredMessages[string]>(stored, changes)
  const messages = Object.values(translations)
  requireTranslatedLength(messages.map((each) => each.message.length))
  return { translations, ...(messages.some(({ html }) => html === null) && { htmlVersion: 0 }) }
}

/** Titles and messages in other languages, for rows that store both in one column. */
export type BothTexts = Readonly<Record<string, { readonly title?: string; readonly message?: string }>>

/** Returns the titles and messages of a stored `BothTexts`, in the form of an input. */
export function bothIn(stored: Prisma.JsonValue): NonNullable<Translations> {
  return storedTexts<BothTexts[string]>(stored).map(({ language, text }) => ({ language, ...text }))
}

/**
 * Applies changes to a stored `BothTexts`.
 * @throws Invalid when the messages are too long together.
 */
export function bothAfter(stored: Prisma.JsonValue, given: Translations): BothTexts {
  const known = withChanges<BothTexts[string]>(stored, {})
  const changed = (given ?? []).map(({ language, title, message }) => {
    const text = {
      ...known[language],
      ...(title !== undefined && { title }),
      ...(message !== undefined && { message }),
    }
    const kept = Object.entries(text).filter(([, value]) => value !== null)
    return [language, kept.length === 0 ? null : Object.fromEntries(kept)] as const
  })
  const texts = withChanges<BothTexts[string]>(stored, Object.fromEntries(changed))
  requireTranslatedLength(Object.values(texts).map(({ message }) => message?.length ?? 0))
  return texts
}

/** @throws Invalid when messages in other languages are too long together. */
function requireTranslatedLength(lengths: readonly number[]): void {
  if (lengths.reduce((sum, length) => sum + length, 0) <= MAX_TRANSLATED_LENGTH) return
  throw invalid([
    {
      path: ['translations'],
      message: `must have at most ${MAX_TRANSLATED_LENGTH} characters in all messages together`,
    },
  ])
}

const byLanguage = <T>(entries: readonly (readonly [Language, T])[]): ByLanguage<NonNullable<T> | null> =>
  Object.fromEntries(entries.map(([language, text]) => [language, text ?? null])) as ByLanguage<NonNullable<T> | null>

/** Returns the texts of a stored column with their languages, in the order of the languages. */
export function storedTexts<T>(stored: Prisma.JsonValue): { readonly language: Language; readonly text: T }[] {
  const known = new Map(Object.entries(withChanges<T>(stored, {})))
  return languages.flatMap((language) => {
    const text = known.get(language)
    return text === undefined ? [] : [{ language, text }]
  })
}

/** Something with a title, and updates with messages. */
interface Translated {
  readonly title: string
  readonly titles: Prisma.JsonValue
  readonly updates: readonly { readonly body: string | null; readonly bodies?: ByLanguage<string> }[]
}

/** Whether a text was written in the reader's language; absent: it is the original. */
export interface InLanguage {
  readonly isTranslated?: boolean
}

/** Returns the title in a language, or else the original. */
export function titleIn(
  { title, titles = {} }: { readonly title: string; readonly titles?: Prisma.JsonValue },
  language: Language,
): { readonly title: string } & InLanguage {
  const own = withChanges<string>(titles, {})[language]
  return own === undefined ? { title } : { title: own, isTranslated: true }
}

/** Returns an incident or a maintenance with its texts in a language, where they exist. */
export function inLanguage<T extends Translated>(
  original: T,
  language: Language,
): T & InLanguage & { readonly updates: readonly (T['updates'][number] & InLanguage)[] } {
  const updates = original.updates.map((update) => {
    const body = update.bodies?.[language]
    return body === undefined ? update : { ...update, body, isTranslated: true }
  })
  return { ...original, ...titleIn(original, language), updates }
}

/** Returns the messages in other languages as HTML, or as Markdown; undefined: there are none. */
export function bodiesOf(stored: StoredMessages | null, form: 'HTML' | 'MARKDOWN'): ByLanguage<string> | undefined {
  if (stored === null) return undefined
  const bodies = Object.entries(stored).map(([language, text]) => [
    language,
    form === 'MARKDOWN' ? text.message : htmlOf(text),
  ])
  return bodies.length === 0 ? undefined : Object.fromEntries(bodies)
}
