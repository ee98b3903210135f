import { Invalid } from '../../../core/errors.ts'
import type { StoredMessages } from '../../../core/markdown/markdown-rendering.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { fieldProblem, InputField, TextField, textRules } from '../../../http/page/form.tsx'
import type { Language } from '../../../language/catalogue.ts'
import { wordsOf } from '../../../language/catalogue.ts'
import { offeredLanguages } from '../../../language/choice.ts'
import { message as messageText, titleText } from '../../../status/timeline/timeline-limits.ts'
import { storedTexts } from '../../../status/timeline/translations.ts'
import { currentValue } from './edit-fields.tsx'
import type { Screen } from './screen.tsx'

/** The name of the fields, for `FormProblem` and `EditProblem`. */
export const TRANSLATIONS = 'translations'

type Text = 'title' | 'message'

interface Props {
  readonly screen: Screen
  readonly state: FormState
  /** The texts to write. */
  readonly texts: readonly Text[]
  /** The stored texts. */
  readonly titles?: Prisma.JsonValue
  readonly messages?: Prisma.JsonValue
  /** The version that the form edits; absent: it creates. */
  readonly version?: number
  /** The prefix of the ids of messages, if another form of the page has them too. */
  readonly prefix?: string
}

/** Renders the collapsed fields for texts in the other languages of pages. */
export function TranslationFields(props: Props) {
  const { screen, state, texts, titles = {}, messages = {}, version = 0, prefix = '' } = props
  const stored = {
    title: new Map(storedTexts<string>(titles).map(({ language, text }) => [language, text])),
    message: new Map(storedTexts<StoredMessages[string]>(messages).map((each) => [each.language, each.text.message])),
  }
  const languages = otherLanguages(screen, [...stored.title.keys(), ...stored.message.keys()])
  if (languages.length === 0) return null
  const problem = problemOfAll(state)
  const fields = languages.map((language, index) => {
    const of = (text: Text) => ({
      name: `${TRANSLATIONS}.${index}.${text}`,
      value: stored[text].get(language) ?? '',
    })
    const names = texts.map(of)
    const isOpen = names.some(
      ({ name, value }) => (state.fields.get(name) ?? value) !== '' || fieldProblem(state, name) !== null,
    )
    const fieldProps = (text: Text) => {
      const { name, value } = of(text)
      return { name, value, state, hint: version === 0 ? undefined : currentValue(state, version, { name, value }) }
    }
    return { language, index, isOpen, fieldProps }
  })
  return (
    <details class="translations" open={problem !== null || fields.some(({ isOpen }) => isOpen)}>
      <summary>In other languages</summary>
      <p class="hint">Readers get a text in their language if you write one, and otherwise the original.</p>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {fields.map(({ language, index, isOpen, fieldProps }) => (
        <details open={isOpen}>
          <summary lang={wordsOf(language).tag}>{wordsOf(language).name}</summary>
          <input type="hidden" name={`${TRANSLATIONS}.${index}.language`} value={language} />
          {texts.includes('title') && (
            <InputField
              label={`Title, ${wordsOf(language).name}`}
              {...fieldProps('title')}
              {...optional(titleText)}
              autocomplete="off"
            />
          )}
          {texts.includes('message') && (
            <TextField
              label={`Message, ${wordsOf(language).name}`}
              {...fieldProps('message')}
              id={`${prefix}${TRANSLATIONS}.${index}.message`}
              rows={4}
              {...optional(messageText)}
            />
          )}
        </details>
      ))}
    </details>
  )
}

/** Returns the languages of texts besides the default one: those that pages offer, and those of stored texts. */
export function otherLanguages({ organization }: Screen, written: readonly Language[]): Language[] {
  const { offered, byDefault } = offeredLanguages(organization.languages, organization.defaultLanguage)
  return [...new Set([...offered.filter((language) => language !== byDefault), ...written])]
}

/** Returns the problem of all texts together; null: none. */
function problemOfAll({ problem }: FormState): string | null {
  if (!(problem instanceof Invalid)) return null
  const found = problem.issues.find(({ path }) => path.length === 1 && path[0] === TRANSLATIONS)
  return found === undefined ? null : `The messages ${found.message}.`
}

function optional(schema: typeof titleText) {
  const { required: _, ...rules } = textRules(schema)
  return rules
}

/** Reads texts in other languages; an empty one is null. */
export function readTranslations(fields: URLSearchParams) {
  const given: Record<string, string | null>[] = []
  for (let index = 0; fields.has(`${TRANSLATIONS}.${index}.language`); index++) {
    const text = (name: string) => {
      const value = fields.get(`${TRANSLATIONS}.${index}.${name}`)
      return value === null ? {} : { [name]: value.trim() === '' ? null : value }
    }
    given.push({ ...text('language'), ...text('title'), ...text('message') })
  }
  return given
}
