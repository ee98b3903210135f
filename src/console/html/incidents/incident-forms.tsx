import type { FormState } from '../../../http/page/form.tsx'
import { SelectField, TextField, textRules } from '../../../http/page/form.tsx'
import type { Template } from '../../../status/template/template.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { message as messageText } from '../../../status/timeline/timeline-limits.ts'
import type { IncidentWithTimeline } from '../../../status/timeline/timeline-reader.ts'
import { incidentStatusLabels } from '../../../status-page/view.ts'
import {
  CurrentValue,
  currentValue,
  EditProblem,
  isOutdated,
  MessageField,
  NotifySubscribersField,
  PreviewButton,
  VersionField,
} from '../frame/edit-fields.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import type { Screen } from '../frame/screen.tsx'
import { TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'
import { ServiceStatusFields } from '../services/service-fields.tsx'
import { FileFields } from './incident-files.tsx'
import { statusChoices } from './new-incident.tsx'
import { TemplateChoice } from './template-choice.tsx'

const RESOLVED_MESSAGE = 'This incident is resolved.'

interface Props {
  readonly screen: Screen
  readonly state: FormState
  readonly preview: MessagePreview | null
  readonly incident: IncidentWithTimeline
  readonly services: readonly OfferedService[]
  /** For updates. */
  readonly templates: readonly Template[]
}

/** Renders the form that posts an update. */
export function UpdateForm({ screen, state, preview, incident, services, templates }: Props) {
  const { id, status, version } = incident
  return (
    <form
      method="post"
      action={screen.path(`incidents/${id}/updates`)}
      class="stack composer"
      id="update"
      enctype="multipart/form-data"
    >
      <h2>{status === 'RESOLVED' ? 'Add to it, or reopen it' : 'Post an update'}</h2>
      <EditProblem state={state} version={version} fields={['status', 'message', 'services', 'files', TRANSLATIONS]} />
      <input type="hidden" name="form" value="update" />
      <VersionField state={state} version={version} />
      <TemplateChoice {...{ screen, state, templates }} />
      <SelectField
        label="Status"
        name="status"
        state={state}
        choices={statusChoices}
        value={status}
        hint={currentValue(state, version, { name: 'status', value: status, shown: incidentStatusLabels[status] })}
      />
      <MessageField state={state} preview={preview} />
      <TranslationFields {...{ screen, state, version }} texts={['title', 'message']} titles={incident.titles} />
      <ServiceStatusFields
        state={state}
        services={services}
        chosen={new Map()}
        affected={new Map(incident.services.map((service) => [service.serviceId, service.status]))}
        isOutdated={isOutdated(state, version)}
      />
      <FileFields state={state} hint="Everyone who sees the update sees them." />
      <NotifySubscribersField state={state} />
      <p class="actions">
        <button type="submit">Post update</button>
        <PreviewButton />
      </p>
    </form>
  )
}

/** Renders the form that resolves the incident with one button: its message is prepared and can be changed. */
export function ResolveForm({
  screen,
  state,
  incident: { id, version, status },
}: Pick<Props, 'screen' | 'state' | 'incident'>) {
  return (
    <form method="post" action={screen.path(`incidents/${id}/updates`)} class="stack resolve" id="resolve">
      <EditProblem state={state} version={version} fields={['message', TRANSLATIONS]} />
      <input type="hidden" name="form" value="resolve" />
      <input type="hidden" name="status" value="RESOLVED" />
      <VersionField state={state} version={version} />
      {isOutdated(state, version) ? (
        <p class="hint">
          <CurrentValue>{incidentStatusLabels[status]}</CurrentValue>
        </p>
      ) : null}
      <TextField
        id="resolve-message"
        label="Message when resolved"
        name="message"
        state={state}
        value={RESOLVED_MESSAGE}
        rows={2}
        {...textRules(messageText)}
      />
      <TranslationFields {...{ screen, state, version }} texts={['message']} prefix="resolve-" />
      <NotifySubscribersField state={state} />
      <p class="actions">
        <button type="submit" class="quiet">
          Resolve
        </button>
      </p>
    </form>
  )
}
