/** Parts that forms share, in the notation of the forms. */
export const rules = {
  user: '[the|a] user|customer [[with] [the] id] [:] <projectUserId>',
  device: '[the|a] device|phone [[with] [the] id] [:] <deviceId>',
  recipient: '<user> | <device>',
  target: '<recipient> | <candidate>',
  separator: ', and | , | and',
  users: 'users|customers <projectUserId> <separator> <projectUserId> { <separator> <projectUserId> }',
  devices: 'devices|phones <deviceId> <separator> <deviceId> { <separator> <deviceId> }',
  broadcast: 'everyone|everybody|all | all [of] [the|our|my] users|customers|devices | every user|customer|device',
  defaultAudience: '[the|its] default audience',
  audience: '<recipient> { <separator> <recipient> } | <users> | <devices> | <broadcast> | <defaultAudience>',
  pairs: '<json> | <property> { <separator> <property> }',
  properties: '[,] with [the] [properties|property] [:] <pairs> | [,] properties [:] <pairs>',
  content: '[, | :] [with] <part> { [,] [and|with] <part> } | [:] <body>',
  part: `[the|a] title [:|=] <title> | titled <title> | [the|a] body|text|message [:|=] <body> | saying <body> | that says <body>
    | [the|an] image [url] [:|=] <imageUrl> | [the|a] link [:|=] <landingUrl> | [the|a] landing url [:|=] <landingUrl>`,
  asked: 'could|can|would|will you',
  opening: `hi|hello|hey [there] | please|kindly|ok|okay | <asked> | i|we want|need [you] to | i|we would like [you] to
    | i'd|we'd like [you] to`,
  politeness: 'please|thanks | thank you',
  agreement: 'yes|y|yep|yeah|yup|sure|ok|okay|certainly|affirmative|absolutely|agreed | of course | yes i do',
  bidding: 'do|send|trigger it | do so | please do | go ahead | proceed|confirm|confirmed | i confirm',
  refusal: `no|n|nope|nah|cancel|cancle|stop|abort|nevermind|nvm|wait|decline|reject|disregard|exit|quit|discard|terminate|ignore
    | negative|skip|don't | never mind | do not | not now|anymore | rather|better not | do nothing | no way | i decline
    | cancel|stop|abort|forget|leave|skip|drop|discard|terminate|ignore|disregard|scratch it|that|this | forget about it
    | don't do|send|trigger it | do not do|send|trigger it | don't bother
    | [it is | it's | [the] user|request|task|operation] cancelled|canceled|aborted|declined|rejected [by [the] user]`,
  closing: 'please|thanks|cheers|now | thank you | right now | for me'
}

/** Rules whose presence is what they say. */
export const flags: ReadonlySet<string> = new Set(['broadcast', 'defaultAudience', 'asked'])

/** What may stand after an order. */
export const after = '[.|!|?] { [,] <closing> [.|!|?] }'

/** What else a text or its beginning may be. */
export const texts = {
  opening: '{ <opening> [,|.|!|:] }',
  /** Forbids the order after it. */
  forbidding: `don't|dont|never|not | do not | you|we must|should|shall not | you|we mustn't|shouldn't
    | i|we do not|don't|dont want|wish [you] to | [there is] no need to | let's|lets not
    | under no circumstances | i'd rather you didn't`,
  /** One phrase and no more: words of agreement in a row, or thanks, may also put the question off. */
  yes: `<agreement> [[,|.|!] [please] <bidding>] [[,] please] [.|!] | [please] <bidding> [[,] please] [.|!]
    | yes [,|.|!] thanks [.|!] | yes [,|.|!] thank you [.|!]`,
  no: '[please] <refusal> { [,|.|!] (<refusal> | <politeness>) } [.|!]',
  /** Says what an id is. */
  user: "[it is | it's] [a|the] user|customer [.|!]",
  device: "[it is | it's] [a|the] device|phone [.|!]"
}
