import { IncomingMode, IncomingStatus, IntegrationKind } from '../../generated/prisma/enums.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { builder } from './builder.ts'

builder.enumType(IntegrationKind, {
  name: 'IntegrationKind',
  description: 'The tool that sends alerts.',
  values: describedValues({
    ALERTMANAGER: 'Prometheus Alertmanager, through its webhook (version 4).',
    DATADOG: 'Datadog, through a webhook with our template.',
    GENERIC: 'Any program that sends JSON.',
    GRAFANA: 'Grafana, through a webhook contact point.',
    PAGERDUTY: 'PagerDuty, through its webhooks (version 3).',
    PAGERDUTY_EVENTS: 'Any client of PagerDuty’s Events API (version 2).',
    SENTRY: 'Sentry, through an internal integration.',
    SNS: 'Amazon CloudWatch, through an Amazon SNS topic.',
    UPTIME_KUMA: 'Uptime Kuma, through a webhook notification.',
  }),
})
builder.enumType(IncomingMode, {
  name: 'IncomingMode',
  description: 'What an incoming alert creates.',
  values: describedValues({
    DRAFT: 'A draft incident.',
    PUBLISH: 'A public incident.',
    SUGGEST: 'A suggested incident.',
  }),
})
builder.enumType(IncomingStatus, {
  name: 'IncomingStatus',
  description: 'The state of a received message.',
  values: describedValues({
    DONE: 'Read and applied.',
    IGNORED: 'Contains no alert, or no rule matches its alerts.',
    PENDING: 'Not read yet, or waiting to be read again because the sender’s server did not answer.',
    REFUSED: 'Not in the format of the sender, or its signature is invalid.',
  }),
})
