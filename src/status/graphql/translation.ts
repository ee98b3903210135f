import type { StoredMessages } from '../../core/markdown/markdown-rendering.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { costs } from '../../graphql/document/cost.ts'
import { cacheable } from '../../graphql/execution/cacheable.ts'
import { Language, languages } from '../../language/catalogue.ts'
import { MAX_TRANSLATED_LENGTH, storedTexts } from '../timeline/translations.ts'
import { builder } from './builder.ts'

/** A text in another language. */
interface Translated {
  readonly language: Language
  readonly text: string
}

const LANGUAGE = 'The language.'

/** The title of an incident or a maintenance in another language. */
export const TitleTranslation = builder.objectRef<Translated>('TitleTranslation').implement({
  description: 'A title in another language.',
  extensions: cacheable('language', 'title'),
  fields: (t) => ({
    language: t.expose('language', { type: Language, description: LANGUAGE }),
    title: t.exposeString('text', { description: 'The title.' }),
  }),
})

/** The message of an update in another language. */
export const MessageTranslation = builder.objectRef<Translated>('MessageTranslation').implement({
  description: 'A message in another language.',
  extensions: cacheable('language', 'message'),
  fields: (t) => ({
    language: t.expose('language', { type: Language, description: LANGUAGE }),
    message: t.exposeString('text', { description: 'The message, in markdown.' }),
  }),
})

/** The texts of a repeating maintenance in another language. */
export const SeriesTranslation = builder
  .objectRef<Omit<Translated, 'text'> & { readonly text: { readonly title?: string; readonly message?: string } }>(
    'MaintenanceSeriesTranslation',
  )
  .implement({
    description: 'The texts of a repeating maintenance in another language.',
    fields: (t) => ({
      language: t.expose('language', { type: Language, description: LANGUAGE }),
      title: t.string({ nullable: true, description: 'The title. Null: none.', resolve: ({ text }) => text.title }),
      message: t.string({
        nullable: true,
        description: 'The message, in markdown. Null: none.',
        resolve: ({ text }) => text.message,
      }),
    }),
  })

/** The texts of a template in another language. */
export const TemplateTranslation = builder
  .objectRef<Omit<Translated, 'text'> & { readonly title?: string | null; readonly message?: string | null }>(
    'TemplateTranslation',
  )
  .implement({
    description: 'The texts of a template in another language.',
    fields: (t) => ({
      language: t.expose('language', { type: Language, description: LANGUAGE }),
      title: t.exposeString('title', { nullable: true, description: 'The title. Null: none.' }),
      message: t.exposeString('message', { nullable: true, description: 'The message, in markdown. Null: none.' }),
    }),
  })

/** The cost of titles in other languages. */
export const titlesCost = costs({ items: languages.length })
/** The cost of messages in other languages, whose total length is limited. */
export const messagesCost = costs({ items: languages.length, each: MAX_TRANSLATED_LENGTH / 400 / languages.length })

/** Returns the titles of a stored column. */
export const titlesIn = (stored: Prisma.JsonValue): Translated[] => storedTexts<string>(stored)

/** Returns the messages of a stored column. */
export const messagesIn = (stored: Prisma.JsonValue): Translated[] =>
  storedTexts<StoredMessages[string]>(stored).map(({ language, text }) => ({ language, text: text.message }))
