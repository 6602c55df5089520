// A bot in the page itself, which says what a test wants when it wants it: `bot.send(type, data)`.
// It takes the place of what answers POST /start and the offer, and ends the page's own connection.
{
  const network = window.fetch;
  const bot = (window.bot = { heard: [], offers: 0 });

  bot.send = (type, data) => bot.channel.send(JSON.stringify({ label: "rtvi-ai", id: "1", type, data }));

  /** What the framework reports of a sentence. Without `spoken`, it is new. */
  bot.says = (segment_id, text, spoken) => {
    const accumulated_text = spoken ?? "";
    const remaining_text = text.slice(accumulated_text.length).trim();
    const spoken_status = spoken === undefined ? "new" : remaining_text ? "in-progress" : "completed";
    const spoken_progress = { accumulated_text, remaining_text };
    bot.send("bot-output", { text, segment_id, will_be_spoken: true, spoken_status, spoken_progress });
  };

  /** A whole turn of the person, and the answer. */
  bot.turn = (segment_id, question, answer) => {
    bot.send("user-started-speaking");
    bot.send("user-transcription", { text: question, final: true, timestamp: "", user_id: "" });
    bot.send("user-stopped-speaking");
    bot.send("bot-llm-started");
    bot.send("bot-started-speaking");
    const words = answer.split(" ");
    bot.says(segment_id, answer);
    bot.send("bot-llm-stopped");
    for (let i = 1; i <= words.length; i++) bot.says(segment_id, answer, words.slice(0, i).join(" "));
    bot.send("bot-stopped-speaking");
  };

  async function offered({ sdp, type }) {
    bot.offers++;
    const peer = (bot.peer = new RTCPeerConnection());
    const context = new AudioContext();
    const sound = context.createMediaStreamDestination();
    const silence = new GainNode(context, { gain: 0 });
    const source = new OscillatorNode(context);
    source.connect(silence).connect(sound);
    source.start();
    peer.addTrack(sound.stream.getAudioTracks()[0], sound.stream);
    peer.ondatachannel = ({ channel }) => {
      bot.channel = channel;
      channel.onmessage = ({ data }) => {
        if (data.startsWith("ping")) return;
        const message = JSON.parse(data);
        bot.heard.push(message);
        if (message.type === "client-ready") bot.send("bot-ready", { version: "2.1.0" });
      };
    };
    await peer.setRemoteDescription({ sdp, type });
    await peer.setLocalDescription();
    await new Promise((resolve) => {
      if (peer.iceGatheringState === "complete") resolve();
      peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && resolve();
    });
    return { sdp: peer.localDescription.sdp, type: "answer", pc_id: "1" };
  }

  window.fetch = async (...args) => {
    const request = new Request(...args);
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/start")) return bot.start?.() ?? Response.json({ sessionId: "1" });
    if (!pathname.endsWith("/api/offer")) return network(...args);
    const body = await request.json();
    if (request.method === "POST") return Response.json(await offered(body));
    for (const { candidate, sdp_mid, sdp_mline_index } of body.candidates) {
      await bot.peer.addIceCandidate({ candidate, sdpMid: sdp_mid, sdpMLineIndex: sdp_mline_index });
    }
    return Response.json({});
  };
}
