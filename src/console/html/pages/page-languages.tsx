import type { Organization } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { fieldProblem, SelectField } from '../../../http/page/form.tsx'
import { languages, wordsOf } from '../../../language/catalogue.ts'
import { offeredLanguages } from '../../../language/choice.ts'
import { currentValue } from '../frame/edit-fields.tsx'

/** The fields of languages, for `EditProblem`. */
export const languageFields = ['languages', 'defaultLanguage'] as const

/** Reads the languages that pages offer; none means all, including later ones. Empty if the form does not show them. */
export function readLanguages(fields: URLSearchParams): {
  readonly languages?: readonly string[]
  readonly defaultLanguage?: string
} {
  const byDefault = fields.get('defaultLanguage')
  if (byDefault === null) return {}
  const chosen = fields.getAll('languages')
  const isAll = languages.every((language) => chosen.includes(language))
  return { defaultLanguage: byDefault, languages: isAll ? [] : [...new Set([byDefault, ...chosen])] }
}

/** Renders the choice of the languages that pages offer, and of the default one. */
export function LanguageFields({
  organization,
  version,
  state,
}: {
  readonly organization: Pick<Organization, 'languages' | 'defaultLanguage'>
  /** The version that the form edits. */
  readonly version: number
  readonly state: FormState
}) {
  const { offered, byDefault } = offeredLanguages(organization.languages, organization.defaultLanguage)
  const isSent = state.fields.has('defaultLanguage')
  const chosen = isSent ? state.fields.getAll('languages') : offered
  const problem = fieldProblem(state, 'languages')
  return (
    <>
      <SelectField
        label="Default language"
        name="defaultLanguage"
        state={state}
        value={byDefault}
        choices={languages.map((language) => ({ value: language, text: wordsOf(language).name }))}
        hint={currentValue(state, version, {
          name: 'defaultLanguage',
          value: byDefault,
          shown: wordsOf(byDefault).name,
          hint: 'For readers who accept none of the others.',
        })}
      />
      <fieldset class="form-field">
        <legend>Languages</legend>
        <p class="hint">
          {currentValue(state, version, {
            name: 'languages',
            value: offered,
            shown: offered.map((language) => wordsOf(language).name).join(', '),
            hint: 'Readers get the page in the language that their browser requests. Your own texts are not translated; you can write incidents and maintenance in each language.',
          })}
        </p>
        {problem === null ? null : <p class="problem">{problem}</p>}
        {languages.map((language) => (
          <div class="form-field checkbox">
            <label>
              <input type="checkbox" name="languages" value={language} checked={chosen.includes(language)} />{' '}
              <span lang={wordsOf(language).tag}>{wordsOf(language).name}</span>
            </label>
          </div>
        ))}
      </fieldset>
    </>
  )
}
