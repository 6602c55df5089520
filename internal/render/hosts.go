package render

import (
	"cmp"
	"slices"
	"strings"

	"vbot/internal/catalog"
)

// A hostRow is a row of DEPLOY.md's table of hosts.
type hostRow struct{ Host, Port, For string }

// Hosts returns the hosts that the bot contacts, each address once.
func (d *Data) Hosts() (rows []hostRow) {
	for _, s := range d.all() {
		for _, h := range s.Hosts {
			name, port, _ := strings.Cut(h.Address, ":")
			if name[0] == '{' && name[len(name)-1] == '}' {
				port = cmp.Or(port, "the address's")
			}
			row := hostRow{name, strings.Replace(cmp.Or(port, "443"), "/udp", ", UDP", 1), s.Label}
			if h.Note != "" {
				row.For += ": " + h.Note
			}
			isSame := func(r hostRow) bool { return r.Host == row.Host && r.Port == row.Port }
			i := slices.IndexFunc(rows, isSame)
			switch {
			case i < 0:
				rows = append(rows, row)
			case rows[i].For != row.For:
				rows[i].For += "; " + row.For
			}
		}
	}
	return rows
}

// OtherPorts returns the TCP ports other than 443 that the bot connects to.
func (d *Data) OtherPorts() (ports []string) {
	for _, row := range d.Hosts() {
		isTCP := strings.Trim(row.Port, "0123456789") == "" // only TCP ports are plain numbers
		if isTCP && row.Port != "443" && row.Host != "localhost" && !slices.Contains(ports, row.Port) {
			ports = append(ports, row.Port)
		}
	}
	return ports
}

// Downloads returns the hosts from which the models in the bot's process are downloaded.
func (d *Data) Downloads() (hosts []string) {
	for _, s := range d.Services {
		for _, h := range s.Hosts {
			if h.ForDownload && !slices.Contains(hosts, h.Address) {
				hosts = append(hosts, h.Address)
			}
		}
	}
	return hosts
}

// Offline returns lines about the variables with which the bot needs no internet: addresses of your own
// servers, models, and variables that are required anyway. It is empty if a service, or every
// transport, is available only on the internet.
func (d *Data) Offline() (lines []string) {
	needsNone := []string{catalog.SmallWebRTC, catalog.LiveKit, catalog.WebSocket, catalog.Asterisk}
	if !slices.ContainsFunc(needsNone, d.has) {
		return nil
	}
	var required []string
	for _, s := range d.Services {
		isLocal := s.Local()
		before := len(lines)
		for _, v := range s.Env {
			switch needed := v.Required && !v.Server && s.Unless(v) == ""; {
			case v.Kind == "url", isLocal && (needed || v.Kind == "model" || v.Kind == "path"):
				lines = append(lines, "`"+v.Name+"`: "+v.Note)
			case needed:
				required = append(required, "`"+v.Name+"`: "+v.Note+", or any text if your server needs none")
			}
		}
		if len(lines) == before && !isLocal {
			return nil
		}
	}
	lines = append(lines, required...)
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Charges reports whether the bot uses anything that costs money.
func (d *Data) Charges() bool {
	isHosted := func(s Service) bool { return !s.Local() }
	hasLine := d.has(catalog.Daily) || d.CallsOverDaily() || len(d.Carriers()) > 0
	return hasLine || slices.ContainsFunc(d.Services, isHosted)
}
