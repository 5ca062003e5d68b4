"""The phrases that WhatsApp writes into exports, by language of the phone; system_messages.py says where.

Sources: the app's own strings, of iOS 22.24 and Android 2.8, as public parsers of exports have collected them in some
60 languages, and exports shown in their issues. A language has several wordings, of older and newer versions.
"""

from __future__ import annotations


def _table(text: str) -> tuple[str, ...]:
    lines = (line.split(" | ") for line in text.splitlines())
    return tuple(phrase.strip() for phrases in lines for phrase in phrases if phrase.strip())


MORNING = _table("""
a. m. | vorm. | dop. | de. | ap. | f.m. | öö | sa | pg | дп | пр.об. | π.μ. | ص | صباحًا | ق.ظ. | לפנה״צ | 오전
上午 | 午前 | 凌晨 | 早上 | priešpiet | priekšpusdienā | paradite | पूर्वाह्न | পূর্বাহ্ণ | முற்பகல் | ก่อนเที่ยง
da manhã | in the morning
""")
"""The first half of the day, as Unicode CLDR has it; points, quotes and spaces within are left out by many phones."""

AFTERNOON = _table("""
p. m. | nachm. | odp. | pop. | du. | ip. | e.m. | ös | ch | ptg | пп | сл.об. | μ.μ. | م | مساءً | ب.ظ. | אחה״צ
오후 | 下午 | 午後 | 晚上 | popiet | pēcpusdienā | mbasdite | अपराह्न | অপরাহ্ণ | பிற்பகல் | หลังเที่ยง | da tarde
in the afternoon
""")
"""The second half of the day, likewise."""

JOINING = _table("klo | kl. | kl | à | at | um | ob | om | o | u | às | a las | alle | ore | lúc | в | о | στις")
"""What may stand between date and time."""

ATTACHED = _table("""
attached | file attached | attachment | fil vedhæftet | vedhæftet | Datei angehängt | angehängt | Anhang
archivo adjunto | archivo adjuntado | adjunto | arxiu adjunt | adjunt | fichier joint | pièce jointe | file allegato
allegato | arquivo anexado | ficheiro anexado | anexado | anexo | bestand bijgevoegd | bijgevoegd | lêer aangeheg
vedlagt fil | vedlagt | bifogad fil | bifogat | liitetiedosto | liite | soubor byl přiložen | soubor přiložen
příloha | súbor pripojený | príloha | załączony plik | plik załączony | załączono | priložena datoteka | priloženo
datoteka u privitku | fájl csatolva | csatolva | fișier atașat | atașare | fail lisatud | pievienots fails
byla prisegta | skedë e ngjitur | dosya ekli | eklendi | fayl əlavə olunub | fayl biriktirildi | file terlampir
terlampir | fail dilampirkan | dilampir | nakalakip na file | faili limeambatanishwa | tệp đính kèm | đính kèm
ceangailte | συνημμένο αρχείο | επισυνάφθηκε | файл добавлен | прикреплено | файл додано | додано | прикачен файл
прикачен фајл | прикачена датотека | қосымша файл | קובץ מצורף | מצורף | الملف مرفق | المُرفق | مرفق | پیوست
پیوستہ فائل | پیوستہ | फाइल अटैच कर दी गई है | अटैच किया गया | फाइल संलग्न | संलग्न केले | ফাইল সংযুক্ত হয়েছে
ફાઇલ જોડાયેલ | જોડાયેલ | ไฟล์ที่แนบ | แนบ | 添付ファイル有り | 添付ファイル | 파일 첨부됨 | 첨부됨 | 첨부파일
文件附件 | 附件檔案 | 附件
""")
"""Says that a file is attached: in brackets after its name (Android), or before it between < and > (iOS)."""

OMITTED = {
    "media": _table("""
media omitted | Medien ausgeschlossen | Medien weggelassen | multimedia omitido | archivo omitido | médias omis
fichier omis | média omis | media omessi | media omesso | mídia oculta | mídia omitida | ficheiro não revelado
média vynechána | média vynechány | médiá vynechané | pominięto multimedia | pliki pominięto | media weggelaten
media weggelaat | medier udeladt | mediefil udeladt | media utelämnat | media har utelämnats | media utelatt
uten vedlegg | media jätettiin pois | media jätetty pois | conținut media omis | medijski zapis izostavljen
datoteke izpuščene | medij izpuščen | média elhagyva | hiányzó médiafájl | meedia välja jäetud | meedia ära jäetud
nav iekļauta multivide | bez multivides | medija praleista | media u hoq | fitxers multimèdia omesos
mitjans omesos | medya dahil edilmedi | medya atlanmış | media buraxıldı | media çıxarılmışdır
fayl o‘tkazib yuborildi | media tidak disertakan | media dikecualikan | media disingkirkan | bỏ qua tệp phương tiện
bỏ qua media | αρχείο παραλήφθηκε | εξαίρεση πολυμέσων | без медиафайлов | файл пропущен | медиа отсутствует
медіа пропущено | без файл | медији су изостављени | без фајлови | файлдар қосылмаған | файл қосылған жоқ
המדיה לא נכללה | המדיה הושמטה | מדיה הושמטה | המדיה הוסרה | تم استبعاد الوسائط | رسانه حذف شد | میڈیا چھوڑ دیا گیا
मीडिया के बिना | मीडिया वगळले | মিডিয়া বাদ দেওয়া হয়েছে | મીડિયા અવગણાયું | ไฟล์สื่อถูกลบ | สื่อถูกลบ
メディアなし | メディアは含まれていません | 미디어 파일 제외됨 | 忽略多媒體檔 | 省略多媒体文件
"""),
    "image": _table("""
image omitted | Bild weggelassen | imagen omitida | image absente | image omise | immagine omessa | imagem ocultada
imagem não revelada | obrázek vynechán | obrázok vynechaný | obraz pominięty | afbeelding weggelaten
billede udeladt | bild utesluten | bilde utelatt | bilde ikke inkludert | imagine omisă | slika izostavljena
görüntü dahil edilmedi | gambar tidak disertakan | εικόνα παραλείφθηκε | изображение отсутствует
зображення відсутнє | התמונה הושמטה | תמונה הושמטה | لم يتم إدراج الصورة | 画像は含まれていません | 이미지 생략됨
照片已忽略 | 圖片已略去 | 圖像已省略 | फ़ोटो हटाई गई | ไม่มีรูปภาพ | đã bỏ qua hình ảnh
"""),
    "video": _table("""
video omitted | Video weggelassen | video omitido | vídeo omitido | vidéo absente | vidéo omise | video omesso
vídeo não revelado | video vynecháno | video vynechané | wideo pominięte | video weggelaten | video udeladt
video utesluten | video utelatt | video izostavljen | video dahil edilmedi | video tidak disertakan
βίντεο παραλείφθηκε | видео отсутствует | відео відсутнє | סרטון הווידאו הושמט | סרטון הושמט | הסרטון הושמט
لم يتم إدراج الفيديوهات | ビデオは含まれていません | 비디오 생략됨 | 视频已忽略 | 影片已略去 | 影片已省略
video note omitted | Videonachricht weggelassen | видеозаметка опущена | วิดีโอถูกลบ | वीडियो छोड़ा गया | đã bỏ video
"""),
    "audio": _table("""
audio omitted | Audio weggelassen | Audio nicht enthalten | audio omitido | áudio ocultado | audio omis
audio omesso | zvukový soubor vynechán | zvuk vynechaný | audio pominięte | audio weggelaten | lyd udeladt
ljud utelslutet | lyd utelatt | ses dahil edilmedi | audio tidak disertakan | ήχος παραλείφθηκε
аудиофайл отсутствует | аудіо відсутнє | קטע קול הושמט | השמע הושמט | הודעה קולית הושמטה
لم يتم إدراج المقاطع الصوتية | 音声は含まれていません | 오디오 생략됨 | 音频已忽略 | 音訊已略去
view once voice message omitted | ficheiro de áudio não revelado | ไม่มีไฟล์เสียง | ऑडियो हटाई गयी
bỏ qua tệp âm thanh
"""),
    "sticker": _table("""
sticker omitted | Sticker weggelassen | sticker omitido | figurinha omitida | sticker omis | sticker non incluso
nálepka vynechána | nálepka vynechaná | pominięto naklejkę | sticker weggelaten | klistermærke udeladt
sticker utesluten | klistremerke utelatt | çıkartma dahil edilmedi | stiker tidak disertakan | стикер не добавлен
наклейку не додано | סטיקר הושמט | تم حذف الملصقات | スタンプは含まれていません | 스티커 제외됨 | 贴图已省略
貼圖已略去 | sticker não revelado | ไม่มีสติกเกอร์ | स्टिकर छोड़ा गया | đã bỏ sticker
"""),
    "gif": _table("""
GIF omitted | GIF weggelassen | GIF omitido | GIF retiré | GIF omis | GIF esclusa | GIF vynechán | GIF vynechaný
plik GIF pominięty | GIF weggelaten | GIF udeladt | GIF utesluten | GIF utelatt | GIF dahil edilmedi
GIF tidak disertakan | GIF отсутствует | GIF-анімацію пропущено | GIF הושמט | لم يتم إدراج صورة GIF
GIFは含まれていません | GIF 생략됨 | GIF não revelada | GIF não revelado | ละเว้น GIF | GIF छोड़ा गया
đã bỏ qua ảnh GIF
"""),
    "document": _table("""
document omitted | Dokument weggelassen | documento omitido | document manquant | document omis | documento omesso
dokument vynechán | dokument vynechaný | dokument pominięty | document weggelaten | dokument udeladt
dokument uteslutet | utelatt dokument | belge dahil edilmedi | dokumen tidak disertakan | документ отсутствует
документ пропущено | מסמך הושמט | המסמך הושמט | لم يتم إدراج المستند | ドキュメントは含まれていません | 문서 생략됨
文档已省略 | 文件已略去 | documento não revelado | ละเว้นเอกสาร | डॉक्यूमेंट छोड़ा गया | đã bỏ qua tài liệu
"""),
    "contact": _table("""
contact card omitted | Kontaktkarte ausgelassen | Kontaktkarte weggelassen | tarjeta de contacto omitida
cartão do contato omitido | fiche contact manquante | scheda contatto omessa | vizitka vynechána
karta kontaktu vynechaná | pominięta wizytówka kontaktu | visitekaartje weggelaten | kontaktkort udeladt
kişi kartı dahil edilmedi | карточка контакта отсутствует | картка контакту відсутня | כרטיס איש קשר הושמט
لم يتم إدراج بطاقة جهة اتصال | contacto não revelado | บัตรรายชื่อที่ละเว้น | कॉन्टैक्ट कार्ड छोड़ा गया
連絡先カードを省略 | kartu kontak tidak disertakan | bỏ qua thẻ liên lạc
"""),
}
"""Says that media was left out, by its kind; Android doesn't tell the kind."""

DELETED = _table("""
this message was deleted | you deleted this message | you deleted this message as admin
this message was deleted by an admin | Diese Nachricht wurde gelöscht | Du hast diese Nachricht gelöscht
se eliminó este mensaje | este mensaje fue eliminado | eliminaste este mensaje | ce message a été supprimé
vous avez supprimé ce message | questo messaggio è stato eliminato | hai eliminato questo messaggio
mensagem apagada | esta mensagem foi apagada | você apagou esta mensagem | apagou esta mensagem
tato zpráva byla smazána | tato zpráva byla odstraněna | tuto zprávu jste smazal/a | tuto zprávu jste odstranil/a
táto správa bola odstránená | túto správu ste odstránili | ta wiadomość została usunięta | usunięto tę wiadomość
usunąłeś(-ęłaś) tę wiadomość | dit bericht is verwijderd | u hebt dit bericht verwijderd
je hebt dit bericht verwijderd | denne besked blev slettet | denne besked er blevet slettet
du slettede denne besked | du har slettet denne besked | det här meddelandet raderades
du raderade det här meddelandet | denne meldingen ble slettet | du slettet denne meldingen | tämä viesti poistettiin
poistit tämän viestin | acest mesaj a fost șters | ați șters acest mesaj | ova je poruka izbrisana
ova poruka je izbrisana | izbrisali ste ovu poruku | ez az üzenet törlésre került | törölted ezt az üzenetet
bu mesaj silindi | bu mesajı sildiniz | pesan ini dihapus | pesan ini telah dihapus | anda menghapus pesan ini
αυτό το μήνυμα διαγράφηκε | διαγράψατε αυτό το μήνυμα | данное сообщение удалено | это сообщение удалено
вы удалили данное сообщение | вы удалили это сообщение | це повідомлення було видалено | ви видалили це повідомлення
съобщението беше изтрито | ова порука је обрисана | הודעה זו נמחקה | ההודעה נמחקה | ההודעה הזו נמחקה
ההודעה הזאת נמחקה | מחקת הודעה זו | מחקת את ההודעה הזו | מחקת את ההודעה | تم حذف هذه الرسالة | لقد حذفت هذه الرسالة
أنت حذفت هذه الرسالة | این پیام حذف شد | यह संदेश मिटाया गया | ข้อความนี้ถูกลบแล้ว | このメッセージは削除されました
このメッセージを削除しました | 이 메시지는 삭제되었습니다 | 삭제한 메시지입니다 | 这条消息已被删除 | 此訊息已刪除
لقد حذَفت هذه الرسالة | ข้อความนี้ได้ถูกลบ | คุณลบข้อความนี้ | คุณได้ลบข้อความนี้ | यह मैसेज डिलीट कर दिया गया है
आपने यह मैसेज डिलीट किया | आपने यह संदेश मिटाया | anda telah menghapus pesan ini | esta mensagem foi apagada pelo remetente
tin nhắn này đã bị xóa | tin nhắn này đã bị xoá | bạn đã xóa tin nhắn này | bạn đã xoá tin nhắn này
""")
"""Says that the message was deleted, by its author, the phone's owner or an admin."""

EDITED = _table("""
this message was edited | message edited | Diese Nachricht wurde bearbeitet | se editó este mensaje
este mensaje fue editado | ce message a été modifié | questo messaggio è stato modificato | mensagem editada
esta mensagem foi editada | tato zpráva byla upravena | táto správa bola upravená | ta wiadomość została edytowana
dit bericht is bewerkt | bu mesaj düzenlendi | pesan ini diedit | сообщение изменено | это сообщение изменено
ההודעה נערכה | הודעה זו נערכה | تم تعديل هذه الرسالة
""")
"""Says that the message was edited."""

NOTICES = _table("""
end-to-end | de bout en bout | de extremo a extremo | ponta a ponta | ponto a ponto | ende-zu-ende | koncovým šifrov
šifrovány mezi koncovými | šifrovaním počas celého | pełni zaszyfrowane | szyfrowane metodą | сквозным шифрованием
наскрізним шифруванням | מקצה[ -]לקצה | uçtan uca | komplett krypterade | ende-til-ende | salataan täysin
végpontok közötti | criptate integral | مشفرة تمامًا | hujung ke hujung | 端到端 | 端對端 | エンドツーエンド
종단간 | security code with .+ changed | sicherheitsnummer .+ geändert | código de seguridad con
code de sécurité avec | codice di sicurezza con | bezpečnostní kód mezi | kod zabezpieczeń z | код безопасности
קוד האבטחה | disappearing messages | message timer | selbstlöschende nachrichten | mensajes temporales
messages éphémères | messaggi effimeri | mensagens temporárias | mizející zprávy | znikające wiadomości
исчезающие сообщения | הודעות נעלמות | changed (?:their phone number|to a new number) | created (?:this )?group
joined using | was added$ | were added$ | is a contact | blocked this contact | uses a secure service
مشفرة تماما | مشفرة تشفير | التشفير التام | رمز أمانك | الرسائل المؤقتة | الرسائل ذاتية الاختفاء | رقم هاتفه
เข้ารหัสจากต้นทางถึงปลายทาง | เข้ารหัสตั้งแต่ต้นทาง | รหัสความปลอดภัยของคุณกับ | ข้อความชั่วคราว | เปลี่ยนหมายเลขโทรศัพท์
एंड-टू-एंड | एन्ड-टू-एन्ड | शुरू से अंत तक एन्क्रिप्शन | सुरक्षा कोड बदल | डिसअपीयरिंग मैसेज | गायब होने वाले मैसेज
फ़ोन नंबर बदल | completamente encriptadas | são encriptadas | código de segurança (?:partilhado )?com
mudou de número | alterou o (?:seu )?número | dienkripsi | terenkripsi | kode keamanan anda dengan | pesan sementara
(?:mengganti|mengubah) nomor | とのセキュリティコードが変更 | 消えるメッセージ | 電話番号を変更
mã h(?:óa|oá) đầu[ -]cuối | mã bảo mật của bạn với | missed (?:group )?(?:voice|video) call
verpasster (?:sprach|video)anruf | chamada de (?:voz|vídeo) perdida | videochamada perdida
(?:video)?llamada(?: de voz)? perdida | appel (?:vocal|vidéo) manqué
שיחה קולית שלא נענתה | שיחת וידאו שלא נענתה | مكالمة (?:صوتية|فيديو|مرئية) فائتة
(?:สาย|วิดีโอคอล|สายโทรวิดีโอ)ที่ไม่ได้รับ | (?:वॉइस|वीडियो) कॉल मिस हुई | मिस्ड (?:वॉइस|वीडियो) कॉल
छूटी हुई (?:ध्वनि|विडियो) कॉल | panggilan (?:suara|video) tak terjawab | (?:音声|ビデオ)通話不在着信 | 不在着信
""")
"""Parts of notices that iOS shows as a message of the other person or of the group; regular expressions.

A missed call is one: nobody wrote it.
"""

TITLES = (
    "WhatsApp Chat with {}",
    "WhatsApp Chat - {}",
    "WhatsApp-Chat mit {}",
    "WhatsApp Chat mit {}",
    "Chat de WhatsApp con {}",
    "Chat WhatsApp con {}",
    "Xat de WhatsApp amb {}",
    "Discussion WhatsApp avec {}",
    "Chat WhatsApp avec {}",
    "Conversa do WhatsApp com {}",
    "Conversa no WhatsApp com {}",
    "WhatsApp-chat met {}",
    "WhatsApp-gesprek met {}",
    "WhatsApp chat med {}",
    "WhatsApp-chat med {}",
    "WhatsApp-chatt med {}",
    "WhatsApp-samtale med {}",
    "WhatsApp-keskustelu henkilön {} kanssa",
    "Chat WhatsApp s uživatelem {}",
    "Chat WhatsApp s kontaktem {}",
    "Chat WhatsApp s {}",
    "WhatsApp chat s používateľom {}",
    "Czat WhatsApp z {}",
    "WhatsApp klepet z {}",
    "WhatsApp razgovor s {}",
    "WhatsApp Ћаскање са {}",
    "WhatsApp csevegés vele: {}",
    "Conversație WhatsApp cu {}",
    "WhatsApp pokalbis su {}",
    "WhatsApp sarakste ar {}",
    "WhatsApp'i vestlus kontaktiga {}",
    "{} ile WhatsApp Sohbeti",
    "{} bilan WhatsApp chati",
    "{} ilə WhatsApp Söhbəti",
    "Chat WhatsApp dengan {}",
    "Sembang WhatsApp dengan {}",
    "WhatsApp Chat kay {}",
    "Trò chuyện WhatsApp với {}",
    "Συνομιλία WhatsApp με {}",
    "Чат WhatsApp с контактом {}",
    "Чат WhatsApp с {}",
    "WhatsApp Чат с {}",
    "Бесіда WhatsApp з {}",
    "Чат WhatsApp з {}",
    "צ'אט WhatsApp עם {}",
    "WhatsApp צ'אט עם {}",
    "שיחת WhatsApp עם {}",
    "دردشة واتساب مع {}",
    "محادثة واتساب مع {}",
    "گفتگوی WhatsApp با {}",
    "{} کے ساتھ WhatsApp بات چیت",
    "{} के साथ WhatsApp चैट",
    "{} এর সাথে WhatsApp চ্যাট",
    "แชท WhatsApp กับ {}",
    "{}とのWhatsAppチャット",
    "{}님과의 WhatsApp 대화",
    "WhatsApp 与 {} 的对话",
    "WhatsApp 與 {} 的對話",
    "与{}的 WhatsApp 聊天记录",
)
"""Names of exported files; {} stands for the name of the chat."""

UNTRANSLATED = ("omitted", "attached", "attachment", "deleted", "edited", "WhatsApp Chat with", "WhatsApp Chat -")
"""Every English phrase above contains one of them."""

MONTH_FIRST = ("AM", "nakalakip na file", "WhatsApp Chat kay {}")
"""Phrases of languages that write the month before the day: the half of the day in American English, and Filipino."""
