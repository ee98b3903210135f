import type { Topic } from '../../generated/prisma/enums.ts'
import type { Catalogue, Language } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'

/** The options of a form, and the selected ones. */
export interface PreferenceProps {
  /** In page order. */
  readonly services: readonly { readonly id: string; readonly name: string }[]
  readonly topics: readonly Topic[]
  /** Whether the subscriber can choose monthly reports. */
  readonly hasReports: boolean
  /** Empty for every service. */
  readonly serviceIds: readonly string[]
  /** The language of the service names; empty if it differs from that of the page. */
  readonly namesLang: '' | undefined
  /** The problem of the topics. */
  readonly problem?: string | null
}

/** Renders the form fields for topics and services. */
export function PreferenceFields({
  services,
  topics,
  hasReports,
  serviceIds,
  namesLang,
  problem = null,
  words: { subscription: words },
}: PreferenceProps & { readonly words: Catalogue }) {
  return (
    <>
      <fieldset
        class="form-field"
        {...(problem !== null && { 'aria-invalid': 'true', 'aria-describedby': 'topics-problem' })}
      >
        <legend>{words.notifyMe}</legend>
        {problem === null ? null : (
          <p class="problem" id="topics-problem">
            {problem}
          </p>
        )}
        {Object.entries(words.topics)
          .filter(([topic]) => topic !== 'REPORTS' || hasReports || topics.includes(topic))
          .map(([topic, label]) => (
            <label class="tick">
              <input type="checkbox" name="topics" value={topic} checked={topics.some((each) => each === topic)} />{' '}
              {label}
            </label>
          ))}
      </fieldset>
      {services.length === 0 ? null : (
        <details open={serviceIds.length > 0}>
          <summary>{words.onlySome}</summary>
          <fieldset>
            <legend>{words.allWhenNone}</legend>
            {services.map(({ id, name }) => (
              <label class="tick">
                <input type="checkbox" name="serviceIds" value={id} checked={serviceIds.includes(id)} />{' '}
                <span dir="auto" lang={namesLang}>
                  {name}
                </span>
              </label>
            ))}
          </fieldset>
        </details>
      )}
    </>
  )
}

/** Renders the choice of a language, if there are several. */
export function LanguageField({
  offered,
  language,
  words,
}: {
  readonly offered: readonly Language[]
  readonly language: Language
  readonly words: Catalogue
}) {
  if (offered.length < 2) return null
  return (
    <div class="form-field">
      <label for="language">{words.page.language}</label>
      <select id="language" name="language">
        {offered.map((each) => (
          <option value={each} lang={wordsOf(each).tag} selected={each === language}>
            {wordsOf(each).name}
          </option>
        ))}
      </select>
    </div>
  )
}
