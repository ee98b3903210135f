import type { Language } from '../language/catalogue.ts'
import { offeredLanguages } from '../language/choice.ts'
import type { PageState } from '../status/page/page-state.ts'

/** Returns the requested language if the page offers it, or its default. */
export function documentLanguage({ organization }: PageState, requested: Language | null): Language {
  const { offered, byDefault } = offeredLanguages(organization.languages, organization.defaultLanguage)
  return requested !== null && offered.includes(requested) ? requested : byDefault
}
