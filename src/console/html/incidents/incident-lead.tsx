import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, SelectField } from '../../../http/page/form.tsx'
import type { Candidate, IncidentLead } from '../../../status/incident/incident-lead.ts'
import { setIncidentLead } from '../../../status/incident/incident-lead.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ButtonForm } from '../frame/button-form.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'

/**
 * Adds the form that sets the lead of an incident.
 * @param show shows the incident again if it is refused.
 */
export function incidentLeadScreens(
  { action }: Screens,
  show: (screen: Screen, state: FormState) => Promise<Response>,
): void {
  action('incidents/:id/lead', setLead, show)
}

async function setLead(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const incidentId = idIn(screen)
  await setIncidentLead(screen.ctx, { incidentId, userId: fields.get('userId') || null })
  return `incidents/${incidentId}`
}

/** Says who leads an incident; null: no one does. */
export const leadInWords = (lead: Pick<IncidentLead, 'name'> | null) =>
  lead === null ? 'It has no lead' : `Led by ${lead.name}`

/** Renders the lead of an incident, with one button or one choice to change it. */
export function LeadPart({
  screen,
  incident: { id, title },
  lead,
  candidates,
  mayChange,
}: {
  readonly screen: Screen
  readonly incident: { readonly id: string; readonly title: string }
  /** Null: it has no lead. */
  readonly lead: IncidentLead | null
  readonly candidates: readonly Candidate[]
  readonly mayChange: boolean
}) {
  const action = screen.path(`incidents/${id}/lead`)
  const me = candidates.find((each) => each.id === screen.user.id)
  const choices = [{ value: '', text: 'No one' }, ...candidates.map((each) => ({ value: each.id, text: each.name }))]
  return (
    <div id="lead">
      <p class="row-facts">
        {leadInWords(lead)}
        {lead === null ? (
          '.'
        ) : (
          <>
            {' '}
            since <Time at={lead.since} zone={screen.zone} />
          </>
        )}
      </p>
      {mayChange ? (
        <div class="actions">
          {me === undefined || lead?.userId === me.id ? null : (
            <ButtonForm action={action} fields={{ userId: me.id }} text="Take the lead" about={title} />
          )}
          <details class="change-lead">
            <summary>{lead === null ? 'Choose a lead' : 'Change the lead'}</summary>
            <form method="post" action={action} class="stack">
              <input type="hidden" name="form" value="lead" />
              <SelectField label="Lead" name="userId" state={emptyForm} choices={choices} value={lead?.userId ?? ''} />
              <p class="actions">
                <button type="submit" class="quiet">
                  Save
                </button>
              </p>
            </form>
          </details>
        </div>
      ) : null}
    </div>
  )
}
