import { type Case, type Class, classOf, mayDo, never } from '../cases.ts'
import { createsUser, pushes, simpleOrder, tracks, triggers } from '../orders.ts'
import { campaigns, names } from '../things.ts'

/** Per language: create user $a, track purchase for $a, trigger $c for $a, push "hola" to $a; then the same forbidden. */
const spoken: readonly (readonly [string, string, string, string, ...string[]])[] = [
  [
    'Erstelle den Benutzer $a',
    'Erfasse das Ereignis purchase für Benutzer $a',
    'Starte die Kampagne $c für Benutzer $a',
    'Sende eine Push-Nachricht an Benutzer $a mit dem Text "hola"',
    'Erstelle den Benutzer $a nicht',
    'Bitte keinen Benutzer $a anlegen',
    'Starte die Kampagne $c nicht für $a',
    'Soll ich den Benutzer $a anlegen?',
    'Lege morgen den Benutzer $a an'
  ],
  [
    'Crée l’utilisateur $a',
    'Enregistre l’événement purchase pour l’utilisateur $a',
    'Lance la campagne $c pour l’utilisateur $a',
    'Envoie une notification à l’utilisateur $a : "hola"',
    'Ne crée pas l’utilisateur $a',
    "N'envoie rien à $a",
    'Crée l’utilisateur $a demain',
    'Faut-il créer user $a ?'
  ],
  [
    'Crea el usuario $a',
    'Registra el evento purchase para el usuario $a',
    'Lanza la campaña $c para el usuario $a',
    'Envía una notificación al usuario $a que diga "hola"',
    'No crees el usuario $a',
    'No envíes la campaña $c a $a',
    'Crea el usuario $a mañana',
    '¿Creo el usuario $a?'
  ],
  [
    'Crie o usuário $a',
    'Registre o evento purchase para o usuário $a',
    'Dispare a campanha $c para o usuário $a',
    'Envie uma notificação para o usuário $a dizendo "hola"',
    'Não crie o usuário $a',
    'Não dispare a campanha $c',
    'Crie o usuário $a amanhã'
  ],
  [
    'Crea l’utente $a',
    'Registra l’evento purchase per l’utente $a',
    'Avvia la campagna $c per l’utente $a',
    'Invia una notifica all’utente $a con testo "hola"',
    'Non creare l’utente $a'
  ],
  [
    'Maak gebruiker $a aan',
    'Registreer gebeurtenis purchase voor gebruiker $a',
    'Start campagne $c voor gebruiker $a',
    'Stuur een push naar gebruiker $a met tekst "hola"',
    'Maak gebruiker $a niet aan'
  ],
  [
    'Utwórz użytkownika $a',
    'Zapisz zdarzenie purchase dla użytkownika $a',
    'Uruchom kampanię $c dla użytkownika $a',
    'Wyślij powiadomienie do użytkownika $a: "hola"',
    'Nie twórz użytkownika $a'
  ],
  [
    'Создай пользователя $a',
    'Запиши событие purchase для пользователя $a',
    'Запусти кампанию $c для пользователя $a',
    'Отправь уведомление пользователю $a: "hola"',
    'Не создавай пользователя $a',
    'Не запускай кампанию $c для $a'
  ],
  [
    'ユーザー $a を作成して',
    'ユーザー $a のイベント purchase を記録して',
    'ユーザー $a にキャンペーン $c を送って',
    'ユーザー $a に「hola」とプッシュ通知して',
    'ユーザー $a を作成しないでください',
    'キャンペーン $c を送らないで'
  ],
  [
    '创建用户 $a',
    '为用户 $a 记录事件 purchase',
    '为用户 $a 触发活动 $c',
    '给用户 $a 发送推送“hola”',
    '不要创建用户 $a',
    '请不要给 $a 发送推送'
  ],
  [
    'أنشئ المستخدم $a',
    'سجل الحدث purchase للمستخدم $a',
    'شغل الحملة $c للمستخدم $a',
    'أرسل إشعارا إلى المستخدم $a: "hola"',
    'لا تنشئ المستخدم $a'
  ],
  [
    '$a kullanıcısını oluştur',
    '$a kullanıcısı için purchase olayını kaydet',
    '$a kullanıcısı için $c kampanyasını başlat',
    '$a kullanıcısına "hola" bildirimi gönder',
    '$a kullanıcısını oluşturma'
  ],
  [
    '사용자 $a 를 만들어 줘',
    '사용자 $a 의 이벤트 purchase 를 기록해 줘',
    '사용자 $a 에게 캠페인 $c 를 보내 줘',
    '사용자 $a 에게 "hola" 푸시를 보내 줘',
    '사용자 $a 를 만들지 마'
  ],
  [
    'उपयोगकर्ता $a बनाओ',
    'उपयोगकर्ता $a के लिए घटना purchase दर्ज करो',
    'उपयोगकर्ता $a के लिए अभियान $c चलाओ',
    'उपयोगकर्ता $a को "hola" भेजो',
    'उपयोगकर्ता $a मत बनाओ'
  ]
]
/** An English order with words of other languages that revoke, postpone or limit it. */
const mixed = [
  '$O nicht',
  '$O, bitte nicht',
  '$O aber nicht jetzt',
  '$O morgen',
  '$O um 17 Uhr',
  '$O wenn möglich erst später',
  '$O falls sie zustimmt',
  '$O, nein',
  'Nicht $O',
  'Bitte nicht: $O',
  '$O non',
  '$O, surtout pas',
  '$O demain',
  '$O si elle est d’accord',
  'Ne pas $O',
  '$O, mejor no',
  '$O mañana',
  'No $O',
  'Nunca $O',
  '$O, não',
  'Não $O',
  '$O amanhã',
  '$O завтра',
  'Не $O',
  '$O не надо',
  '$O 明天',
  '不要 $O',
  '不要$O',
  '$O 不要',
  '$O しないで',
  '$O 明日',
  '$O لا',
  'لا $O',
  '$O yarın',
  '$O değil',
  '$O하지 마',
  'Nie $O',
  'Inte $O',
  'Ikke $O',
  'Älä $O',
  'Mai $O'
]
const polite = [
  'Bitte $O',
  '$O por favor',
  '$O, s’il te plaît',
  '$O bitte',
  'Hola, $O',
  '$O, gracias',
  '$O お願いします'
]

/** Orders in other languages, which the service does not speak: it must ask about them, or do exactly what they say. */
export const languages: Class = classOf('other languages', 340, (draw, index): Case => {
  if (index % 3 === 0) {
    const { text, action } = simpleOrder(draw)
    if (index % 18 === 0)
      return mayDo(
        draw.pick(polite).replace('$O', () => text),
        action
      )
    return never(mixed[(index / 3) % mixed.length]!.replace('$O', () => text))
  }
  const [a, c] = [draw.pick(names), draw.pick(campaigns)]
  const own = draw.pick(spoken)
  const which = draw.below(own.length)
  const text = own[which]!.replace('$a', a).replace('$c', c)
  const who = { projectUserId: a }
  const actions = [createsUser(a), tracks('purchase', who), triggers(c, [who]), pushes(who, { body: 'hola' })]
  return which < 4 ? mayDo(text, actions[which]!) : never(text)
})
