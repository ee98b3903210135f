import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FormProblem, InputField, SelectField, textRules } from '../../../http/page/form.tsx'
import {
  correctUptime,
  deleteUptimeCorrection,
  ownCorrection,
  pageableCorrections,
  reasonText,
} from '../../../monitoring/objective/correction.ts'
import { listServices } from '../../../status/service/service-queries.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ConfirmDeletion, readTime, TimeField } from '../frame/edit-fields.tsx'
import { byCreation, PageLinks, readListPage } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { correctionWords } from './objectives.tsx'

/** The maximum number of services to choose from. */
const MAX_OFFERED = 500

/** Adds the screens of corrections, which override measured data. */
export function correctionScreens({ get, form }: Screens): void {
  get('corrections', showList)
  form('corrections/new', showNew, submitNew)
  form('corrections/:id/delete', showDeletion, async (screen) => {
    await deleteUptimeCorrection(screen.ctx, idIn(screen))
    return 'corrections'
  })
}

async function submitNew({ ctx, zone }: Screen, { fields }: SubmittedForm): Promise<string> {
  await correctUptime(ctx, {
    serviceId: fields.get('serviceId') ?? '',
    startsAt: readTime(fields, 'startsAt', zone),
    endsAt: readTime(fields, 'endsAt', zone),
    kind: fields.get('kind') ?? '',
    reason: fields.get('reason') ?? '',
  })
  return 'corrections'
}

async function showList(screen: Screen): Promise<Response> {
  const { c, ctx, organization, zone } = screen
  const page = await readListPage(c, {
    path: screen.path('corrections'),
    order: byCreation('UptimeCorrection', 'desc', {}),
    ...pageableCorrections(ctx, organization.id),
  })
  const content = (
    <>
      <p class="lead">
        A correction defines how a period of a service counts in objectives and reports, if the measurements do not
        match what happened. Status pages show the measurements.
      </p>
      <ul class="rows">
        {page.rows.map(({ id, service, startsAt, endsAt, kind, reason, author }) => (
          <li>
            <span>
              {service.name}: {reason}
            </span>
            <span class="row-facts">
              {correctionWords[kind]}: <Time at={startsAt} zone={zone} /> to <Time at={endsAt} zone={zone} />, {author}{' '}
              {screen.may('WRITE') ? (
                <a href={screen.path(`corrections/${id}/delete`)} aria-label={`Delete: ${reason}`}>
                  Delete
                </a>
              ) : null}
            </span>
          </li>
        ))}
      </ul>
      <PageLinks {...page} />
    </>
  )
  const actions = screen.may('WRITE') ? (
    <a class="button" href={screen.path('corrections/new')}>
      Correct a period
    </a>
  ) : undefined
  return screen.show({ title: 'Corrections', section: 'services', content, actions })
}

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  const services = (await listServices(screen.ctx, screen.organization.id)).slice(0, MAX_OFFERED)
  const content = (
    <form method="post" class="stack" id="edit">
      <FormProblem state={state} fields={['serviceId', 'startsAt', 'endsAt', 'kind', 'reason']} />
      <SelectField
        label="Service"
        name="serviceId"
        state={state}
        value={screen.c.req.query('serviceId') ?? ''}
        choices={services.map(({ id, name }) => ({ value: id, text: name }))}
      />
      <TimeField label="From" name="startsAt" state={state} zone={screen.zone} required />
      <TimeField label="To" name="endsAt" state={state} zone={screen.zone} required />
      <SelectField
        label="This period is"
        name="kind"
        state={state}
        choices={Object.entries(correctionWords).map(([value, text]) => ({ value, text: text.toLowerCase() }))}
      />
      <InputField
        label="Reason"
        name="reason"
        state={state}
        {...textRules(reasonText)}
        hint="It is shown with your name, also in reports."
      />
      <p class="actions">
        <button type="submit">Correct</button>
        <a href={screen.path('corrections')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Correct a period', section: 'services', content }, state)
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { service, reason } = await ownCorrection(screen.ctx, screen.organization.id, idIn(screen))
  const content = (
    <ConfirmDeletion state={state} what={`${service.name}: ${reason}`} back={screen.path('corrections')}>
      <p>The measurements count again. The log keeps both.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this correction?', section: 'services', content }, state)
}
