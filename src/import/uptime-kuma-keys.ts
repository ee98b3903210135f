import { type KnownKeys, NO_LOSS, noLossOf, unless, words } from './losses.ts'

const OWN_MAIL = 'Allclear sends email through its own mail server.'
const LOOK = 'The look of pages is not imported.'
const RESPONSES = 'Responses are not stored.'

/** A rule for keys that only monitors of some kinds use. Monitors of other kinds keep them when their kind changes. */
const usedBy =
  (kinds: readonly string[], reason: string, ...plain: readonly unknown[]) =>
  (value: unknown, owner: Readonly<Record<string, unknown>>): string | typeof NO_LOSS =>
    kinds.includes(String(owner['type'])) && !plain.includes(value) ? reason : NO_LOSS

const HTTP = ['http', 'keyword', 'json-query'] as const

/** What is known of the keys of Uptime Kuma 1 and 2, in its backup and, in camel case, in its database. */
export const uptimeKumaKeys: KnownKeys = {
  // Ids, times, states, and what belongs to another kind of monitor, another way to sign in or another schedule.
  ...noLossOf(
    words(`
      id version userId user_id createdDate created_date modified_date weight childrenIDs path pathName
      maintenance forceInactive includeSensitiveData screenshot dns_last_result pushToken interval timeout
      hostname port url method keyword invertKeyword jsonPath jsonPathOperator expectedValue basic_auth_user
      basic_auth_pass authDomain authWorkstation bearerToken bearer_token oauth_client_id oauth_client_secret
      oauth_token_url oauth_scopes oauth_audience oauth_auth_method tlsCa tlsCert tlsKey dns_resolve_type
      dns_resolve_server mqttTopic mqttUsername mqttPassword mqttSuccessMessage mqttCheckType grpcUrl
      grpcProtobuf grpcMethod grpcServiceName grpcBody grpcEnableTls databaseConnectionString databaseQuery
      dockerContainer dockerHost docker_host radiusUsername radiusPassword radiusSecret radiusCalledStationId
      radiusCallingStationId kafkaProducerBrokers kafkaProducerSaslOptions kafkaProducerTopic
      kafkaProducerMessage kafkaProducerSsl kafkaProducerAllowAutoTopicCreation game gamedigGivenPortOnly
      gamedigToken remoteBrowser remote_browser remoteBrowsersToggle snmpOid snmpVersion snmpV3Username
      rabbitmqNodes rabbitmqUsername rabbitmqPassword smtpSecurity manualStatus manual_status systemServiceName
      system_service_name location protocol subtype screenshotDelay ntpServer last_start_date start_time
      end_time weekdays days_of_month interval_day cron duration last_updated_date applyExisting default
      status_page_cname.domain
    `),
  ),
  'notificationIDList.*': unless('This notification is not in the file.', false),
  // Monitors here always warn of certificates.
  expiryNotification: NO_LOSS,
  ...{ body: usedBy(HTTP, 'Its body is not imported, because its method sends none here.'), headers: NO_LOSS },
  ...noLossOf(['httpBodyEncoding', 'maxredirects', 'accepted_statuscodes', 'proxyId']),
  ignoreTls: usedBy(['websocket-upgrade', 'grpc-keyword'], 'Its certificate must be trusted here.', false, 0),
  upsideDown: unless('It is not inverted here.', false, 0),
  maxretries: usedBy(['push'], 'The retries of heartbeats are not imported.', 0),
  retryInterval: (value, owner) =>
    value === 0 || value === owner['interval'] ? NO_LOSS : 'The interval of retries is not imported.',
  resendInterval: unless('Repeated notifications are not imported.', 0),
  retryOnlyOnStatusCodeFailure: unless('It counts every failure here.', false, 0),
  domainExpiryNotification: unless('The expiry of its domain is not watched. Add a monitor for it here.', false, 0),
  cacheBust: unless('Nothing is added to its address to avoid caches.', false, 0),
  tags: 'Tags are not imported.',
  conditions: (_, owner) => (owner['type'] === 'group' ? NO_LOSS : 'Its conditions are not imported.'),
  ...noLossOf(['type', 'andOr'], 'conditions'),
  ...noLossOf(['name', 'isDefault'], 'config'),
  packetSize: NO_LOSS,
  ...{ ipFamily: usedBy(['port', 'dns'], 'Its IP version is not imported.'), ping_count: NO_LOSS },
  ping_numeric: usedBy(['ping'], 'This option of ping is not imported.', true, 1),
  ping_per_request_timeout: usedBy(['ping'], 'The timeout of a single packet is not imported.', 2),
  grpcMetadata: usedBy(['grpc-keyword'], 'The metadata of its call is not imported.'),
  mqttWebsocketPath: usedBy(['mqtt'], 'MQTT over WebSocket is not supported.'),
  wsSubprotocol: NO_LOSS,
  wsIgnoreSecWebsocketAcceptHeader: usedBy(
    ['websocket-upgrade'],
    'It must accept the connection correctly here.',
    false,
    0,
  ),
  ...{ saveResponse: unless(RESPONSES, false, 0), saveErrorResponse: unless(RESPONSES, false, 0, true, 1) },
  responseMaxLength: NO_LOSS,
  // Notifications.
  active: unless('It is not active there.', true, 1),
  ...{
    isDefault: unless('New monitors do not use it.', false, 0),
    is_default: unless('New monitors do not use it.', false, 0),
  },
  ...{ smtpHost: OWN_MAIL, smtpPort: OWN_MAIL, smtpSecure: unless(OWN_MAIL, false), smtpFrom: OWN_MAIL },
  ...{ smtpIgnoreTLSError: unless(OWN_MAIL, false), smtpUsername: OWN_MAIL, smtpPassword: OWN_MAIL },
  telegramMessageThreadID: 'Its thread is not imported: messages go to the chat itself.',
  ...{ telegramSendSilently: unless('Its messages are not silent here.', false) },
  telegramProtectContent: unless('Its messages can be forwarded.', false),
  threadId: 'Its thread is not imported: messages go to the channel itself.',
  postName: 'No posts are created in the forum.',
  discordChannelType: unless('Messages go to the channel itself.', 'channel'),
  ntfyAuthenticationMethod: NO_LOSS,
  ntfyusername: passwordOfNtfy,
  ntfypassword: passwordOfNtfy,
  ntfyaccesstoken: NO_LOSS,
  ...{ webhookContentType: unless('Its body is JSON here.', 'json'), opsgenieRegion: NO_LOSS },
  // Pages and the server.
  'group.name': 'Its services are in other groups already, or its page is not imported.',
  ...{ icon: unless(LOOK, '/icon.svg'), theme: unless(LOOK, 'auto'), footer_text: LOOK, rss_title: LOOK },
  ...{ show_powered_by: unless(LOOK, 0, false, 1, true), show_tags: unless('Tags are not imported.', 0, false) },
  ...{ search_engine_index: unless('Search engines may find it, unless you hide it here.', 1, true) },
  ...{
    auto_refresh_interval: NO_LOSS,
    'group.public': unless('It is not public there.', 1, true),
    send_url: unless('The addresses of monitors are not shown.', 0, false),
  },
  ...noLossOf(['setting.serverTimezone', 'setting.jwtSecret', 'setting.initServerTimezone']),
  'setting.*': 'This setting of the server is not imported.',
}

function passwordOfNtfy(_: unknown, { ntfyAuthenticationMethod }: Readonly<Record<string, unknown>>) {
  return ntfyAuthenticationMethod === 'none' || ntfyAuthenticationMethod === 'accessToken'
    ? NO_LOSS
    : 'The user and password for ntfy are not imported. Use an access token here.'
}
