import { invalid } from '../../../core/validation.ts'
import type { TemplateKind } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { SelectField } from '../../../http/page/form.tsx'
import type { FilledTemplate, Template, TemplateUse } from '../../../status/template/template.ts'
import { fillTemplate, findTemplate, readTemplates } from '../../../status/template/template.ts'
import { placeholdersIn } from '../../../status/template/template-text.ts'
import type { Screen } from '../frame/screen.tsx'
import { otherLanguages, readTranslations, TRANSLATIONS } from '../frame/translation-fields.tsx'
import { readServiceIds, readServiceStatuses } from '../services/service-fields.tsx'

/** Reads the templates of a kind for a form. */
export const offeredTemplates = ({ ctx, organization }: Screen, kind: TemplateKind): Promise<Template[]> =>
  readTemplates(ctx, organization.id, kind)

/**
 * Renders the choice of a template. Its button sends the form, so that it works without a script and keeps the selected
 * services. The Enter key presses this button too: with no template selected, the form is sent as by its own button.
 */
export function TemplateChoice({
  screen,
  state,
  templates,
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly templates: readonly Template[]
}) {
  if (templates.length === 0) return null
  const left = placeholdersIn(wordsIn(state.fields))
  const choices = [{ value: '', text: 'None' }, ...templates.map(({ id, name }) => ({ value: id, text: name }))]
  return (
    <div class="template-choice" id="template-choice">
      <SelectField label="Template" name="templateId" state={state} choices={choices} />
      <p class="actions">
        <button type="submit" name="use" value="true" class="quiet" formnovalidate>
          Use
        </button>
        <a href={screen.path('templates')}>All templates</a>
      </p>
      {left.length === 0 ? null : (
        <p class="problem" role="status">
          Still to fill in: {left.map((name) => `{{${name}}}`).join(', ')}
        </p>
      )}
    </div>
  )
}

/** @throws Invalid when a message or a title still has a placeholder. */
export function requireFilledIn(fields: URLSearchParams): void {
  const [left] = placeholdersIn(wordsIn(fields))
  if (left === undefined) return
  const of = (name: string) => placeholdersIn([fields.get(name) ?? '']).length > 0
  const path = of('title') ? 'title' : of('message') ? 'message' : TRANSLATIONS
  throw invalid([{ path: [path], message: `still has the placeholder {{${left}}} of the template: fill it in` }])
}

const wordsIn = (fields: URLSearchParams): string[] => [
  fields.get('title') ?? '',
  fields.get('message') ?? '',
  ...readTranslations(fields).flatMap((each) => [each['title'] ?? '', each['message'] ?? '']),
]

/**
 * Returns the fields of a form, filled in by the selected template. Other fields stay.
 * @throws NotFound for a template of another kind or organization.
 */
export async function withTemplate(
  screen: Screen,
  kind: TemplateKind,
  fields: URLSearchParams,
  use: TemplateUse,
): Promise<URLSearchParams> {
  const next = new URLSearchParams(fields)
  next.delete('use')
  next.delete('templateId')
  const id = fields.get('templateId') ?? ''
  if (id === '') return next
  const { ctx, organization } = screen
  const template = await findTemplate(ctx, organization.id, id)
  if (template.kind !== kind) return next
  setServices(next, template)
  const chosen = kind === 'MAINTENANCE' ? readServiceIds(next) : readServiceStatuses(next).map((each) => each.serviceId)
  const serviceIds = chosen.length === 0 ? {} : { serviceIds: chosen }
  setWords(screen, next, await fillTemplate(ctx, template, { ...use, ...serviceIds }))
  if (template.status) next.set('status', template.status)
  if (template.impact) next.set('impact', template.impact)
  next.set('notifySubscribers.shown', 'true')
  if (template.notifySubscribers) next.set('notifySubscribers', 'true')
  else next.delete('notifySubscribers')
  return next
}

function setServices(fields: URLSearchParams, { kind, services }: Template): void {
  if (kind === 'MAINTENANCE') fields.set('serviceIds.shown', 'true')
  const known = new Set(readServiceIds(fields))
  for (const { serviceId, status } of services) {
    if (kind !== 'MAINTENANCE') fields.set(`services.${serviceId}`, status ?? '')
    else if (!known.has(serviceId)) fields.append('serviceIds', serviceId)
  }
}

function setWords(screen: Screen, fields: URLSearchParams, { title, message, translations }: FilledTemplate): void {
  if (title !== '') fields.set('title', title)
  fields.set('message', message)
  for (const [index, language] of otherLanguages(screen, []).entries()) {
    const words = translations.find((each) => each.language === language)
    if (words === undefined) continue
    fields.set(`${TRANSLATIONS}.${index}.language`, language)
    if (words.title) fields.set(`${TRANSLATIONS}.${index}.title`, words.title)
    if (words.message) fields.set(`${TRANSLATIONS}.${index}.message`, words.message)
  }
}
