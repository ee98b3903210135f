import { nameText } from '../../../core/validation.ts'
import type { TemplateKind } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, SelectField, textRules } from '../../../http/page/form.tsx'
import type { Template } from '../../../status/template/template.ts'
import {
  createTemplate,
  deleteTemplate,
  findTemplate,
  readTemplates,
  updateTemplate,
} from '../../../status/template/template.ts'
import { placeholders } from '../../../status/template/template-text.ts'
import { titleText } from '../../../status/timeline/timeline-limits.ts'
import { bothIn } from '../../../status/timeline/translations.ts'
import {
  ConfirmDeletion,
  currentNotifySubscribers,
  currentValue,
  EditProblem,
  MessageField,
  NotifySubscribersField,
  readNotifySubscribers,
  readVersion,
  VersionField,
} from '../frame/edit-fields.tsx'
import { FirstStep } from '../frame/first-step.tsx'
import { LockedFields, ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'
import {
  isDraft,
  readServiceIds,
  readServiceNames,
  readServiceStatuses,
  ServiceChoice,
  ServiceStatusFields,
} from '../services/service-fields.tsx'
import { impactChoices, statusChoices } from './new-incident.tsx'

const kindNames: Readonly<Record<TemplateKind, string>> = {
  INCIDENT: 'Incident',
  UPDATE: 'Update of an incident',
  MAINTENANCE: 'Maintenance',
}
const kindIn = (text: string | null | undefined): TemplateKind =>
  (Object.keys(kindNames) as TemplateKind[]).find((kind) => kind === text) ?? 'INCIDENT'

/** Adds the screens of templates: prepared texts for incidents, updates and maintenance. */
export function templateScreens({ get, form }: Screens): void {
  get('templates', showList)
  form(
    'templates/new',
    (screen, state) => showForm(screen, state, kindIn(screen.c.req.query('kind') ?? state.fields.get('kind')), null),
    async (screen, { fields }) => {
      const kind = kindIn(fields.get('kind'))
      if (isDraft(fields)) return showForm(screen, { fields, problem: null }, kind, null)
      await createTemplate(screen.ctx, { kind, ...contentIn(kind, fields) })
      return 'templates'
    },
  )
  form(
    'templates/:id',
    async (screen, state) => {
      const template = await read(screen)
      return showForm(screen, state, template.kind, template)
    },
    submitEdit,
  )
  form('templates/:id/delete', showDeletion, async (screen) => {
    await deleteTemplate(screen.ctx, idIn(screen))
    return 'templates'
  })
}

const read = ({ ctx, organization, c }: Screen) => findTemplate(ctx, organization.id, c.req.param('id') ?? '')

async function submitEdit(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const template = await read(screen)
  if (isDraft(fields)) return showForm(screen, { fields, problem: null }, template.kind, template)
  const content = withoutLocked(contentIn(template.kind, fields), fields)
  await updateTemplate(screen.ctx, { id: template.id, version: readVersion(fields), ...content })
  return 'templates'
}

function contentIn(kind: TemplateKind, fields: URLSearchParams) {
  return {
    name: fields.get('name') ?? '',
    title: fields.get('title') ?? '',
    message: fields.get('message') ?? '',
    translations: readTranslations(fields),
    notifySubscribers: readNotifySubscribers(fields),
    ...(kind !== 'MAINTENANCE' && { status: fields.get('status') || null, services: readServiceStatuses(fields) }),
    ...(kind === 'INCIDENT' && { impact: fields.get('impact') || null }),
    ...(kind === 'MAINTENANCE' && { serviceIds: readServiceIds(fields) }),
  }
}

/** The address of the form that a template fills. */
const usePaths = { INCIDENT: 'incidents/new', MAINTENANCE: 'maintenance/new' } as const

async function showList(screen: Screen): Promise<Response> {
  const { ctx, organization } = screen
  const templates = await readTemplates(ctx, organization.id)
  const kinds = Object.entries(kindNames) as [TemplateKind, string][]
  const content =
    templates.length === 0 ? (
      <FirstStep screen={screen} path="templates/new" text="Write the first">
        A template prepares texts for when something is wrong: it fills in the form that reports an incident, posts an
        update or schedules a maintenance.
      </FirstStep>
    ) : (
      kinds.map(([kind, name]) => (
        <OfKind {...{ screen, kind, name }} templates={templates.filter((each) => each.kind === kind)} />
      ))
    )
  const create = (
    <a class="button" href={screen.path('templates/new')}>
      New template
    </a>
  )
  const actions = screen.may('WRITE') ? create : undefined
  return screen.show({ title: 'Templates', section: 'incidents', content, actions }, emptyForm)
}

function OfKind({
  screen,
  kind,
  name,
  templates,
}: {
  readonly screen: Screen
  readonly kind: TemplateKind
  readonly name: string
  readonly templates: readonly Template[]
}) {
  if (templates.length === 0) return null
  return (
    <section>
      <h2>{name}</h2>
      <ul class="rows">
        {templates.map(({ id, name, title, message }) => (
          <li id={id}>
            <a href={screen.path(`templates/${id}`)}>{name}</a>
            <span class="row-facts" dir="auto">
              {title === '' ? message.slice(0, 80) : title}
              {kind === 'UPDATE' || !screen.may('WRITE') ? null : (
                <>
                  {' · '}
                  <a href={screen.path(`${usePaths[kind]}?template=${id}`)} aria-label={`Use ${name}`}>
                    Use
                  </a>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

async function showForm(
  screen: Screen,
  state: FormState,
  kind: TemplateKind,
  template: Template | null,
): Promise<Response> {
  const services = await readServiceNames(screen)
  const lock = template === null ? { managed: null, state } : await readLock(screen, template.id, state)
  const content = (
    <>
      <ManagedNote screen={screen} managed={lock.managed} />
      {screen.may('WRITE') ? (
        <TemplateForm {...{ screen, kind, template, services }} state={lock.state} />
      ) : (
        <>
          <FormProblem state={lock.state} fields={[]} />
          <Words template={template} />
        </>
      )}
    </>
  )
  const title = template === null ? `New template: ${kindNames[kind].toLowerCase()}` : template.name
  const remove = template && (
    <a class="button quiet" href={screen.path(`templates/${template.id}/delete`)}>
      Delete
    </a>
  )
  const actions = screen.may('WRITE') ? (remove ?? <OtherKinds {...{ screen, kind }} />) : undefined
  return screen.show({ title, section: 'incidents', content, actions }, state)
}

function OtherKinds({ screen, kind }: { readonly screen: Screen; readonly kind: TemplateKind }) {
  const others = (Object.keys(kindNames) as TemplateKind[]).filter((each) => each !== kind)
  return (
    <>
      {others.map((each) => (
        <a href={screen.path(`templates/new?kind=${each}`)}>For: {kindNames[each].toLowerCase()}</a>
      ))}
    </>
  )
}

/** The content of a template, for viewers. */
function Words({ template }: { readonly template: Template | null }) {
  if (template === null) return <p class="lead">You may not create templates.</p>
  return (
    <>
      <p class="lead" dir="auto">
        {template.title}
      </p>
      <pre dir="auto">{template.message}</pre>
      <p>{template.notifySubscribers ? 'Subscribers are notified.' : 'Subscribers are not notified.'}</p>
    </>
  )
}

interface FormProps {
  readonly screen: Screen
  readonly state: FormState
  readonly kind: TemplateKind
  readonly template: Template | null
  readonly services: readonly OfferedService[]
}

const open = { value: '', text: 'Left open' }
const HINT = `${placeholders.map((name) => `{{${name}}}`).join(', ')} are filled in when it is used.`

function TemplateForm({ screen, state, kind, template, services }: FormProps) {
  const version = template?.version ?? 0
  const now = (name: string, value: string, hint?: string) => currentValue(state, version, { name, value, hint })
  const both = bothIn(template?.translations ?? {})
  const titles = Object.fromEntries(both.flatMap(({ language, title }) => (title ? [[language, title]] : [])))
  const messages = Object.fromEntries(
    both.flatMap(({ language, message }) => (message ? [[language, { message, html: null }]] : [])),
  )
  const { required: _, ...titleRules } = textRules(titleText)
  return (
    <form method="post" action={screen.path(`templates/${template?.id ?? 'new'}`)} class="stack composer" id="template">
      <EditProblem
        state={state}
        version={version}
        fields={['name', 'title', 'message', 'status', 'impact', 'services', 'serviceIds', TRANSLATIONS]}
      />
      {template === null ? (
        <input type="hidden" name="kind" value={kind} />
      ) : (
        <VersionField state={state} version={version} />
      )}
      <LockedFields state={state} />
      <InputField
        label="Name of the template"
        name="name"
        state={state}
        value={template?.name}
        autofocus={template === null}
        autocomplete="off"
        hint={now('name', template?.name ?? '', 'Only members see it.')}
        {...textRules(nameText)}
      />
      {kind === 'UPDATE' ? null : (
        <InputField
          label="Title"
          name="title"
          state={state}
          value={template?.title}
          autocomplete="off"
          hint={now('title', template?.title ?? '')}
          {...titleRules}
        />
      )}
      <Choices {...{ screen, state, kind, template, services }} />
      <MessageField
        state={state}
        preview={null}
        value={template?.message ?? ''}
        hint={now('message', template?.message ?? '', HINT)}
      />
      <TranslationFields
        {...{ screen, state, titles, messages, version }}
        texts={kind === 'UPDATE' ? ['message'] : ['title', 'message']}
      />
      <ServicesOf {...{ screen, state, kind, template, services }} />
      <NotifySubscribersField
        state={state}
        checked={template?.notifySubscribers ?? true}
        hint={currentNotifySubscribers(state, version, template?.notifySubscribers ?? true, '')}
      />
      <p class="actions">
        <button type="submit">Save</button>
        <a href={screen.path('templates')}>Cancel</a>
      </p>
    </form>
  )
}

function Choices({ state, kind, template }: FormProps) {
  if (kind === 'MAINTENANCE') return null
  const version = template?.version ?? 0
  const now = (name: string, value: string) => currentValue(state, version, { name, value })
  const status = template?.status ?? ''
  const impact = template?.impact ?? ''
  return (
    <div class="beside">
      <SelectField
        label="Status"
        name="status"
        state={state}
        choices={[open, ...statusChoices]}
        value={status}
        hint={now('status', status)}
      />
      {kind === 'UPDATE' ? null : (
        <SelectField
          label="Impact"
          name="impact"
          state={state}
          choices={[open, ...impactChoices]}
          value={impact}
          hint={now('impact', impact)}
        />
      )}
    </div>
  )
}

function ServicesOf({ state, kind, template, services }: FormProps) {
  const chosen = template?.services ?? []
  if (kind === 'MAINTENANCE') {
    return <ServiceChoice {...{ state, services }} chosen={chosen.map(({ serviceId }) => serviceId)} />
  }
  const statuses = chosen.flatMap(({ serviceId, status }) => (status === null ? [] : [[serviceId, status] as const]))
  return <ServiceStatusFields {...{ state, services }} chosen={new Map(statuses)} />
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { id, name } = await read(screen)
  const content = (
    <ConfirmDeletion state={state} what={name} back={screen.path(`templates/${id}`)}>
      <p>Texts that were written with it stay. This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this template?', section: 'incidents', content }, state)
}
